#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace tapestry {
namespace {

[[noreturn]] void fail_to(const char* what, const std::string& path) {
  fail(fmt::format("{}: must be {}; {}", path, what, std::strerror(errno)));
}

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  /// Closes it now, where a late error of the system can still be told. Returns whether that went well.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Whether a rename to `path` loses nothing but the old bytes: it is a plain file, or nothing yet.
bool replaceable(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

/// Creates or empties `path` and fills it; with `sync`, returns only when the bytes are on the disk. On failure, false
/// and errno.
bool write_pieces(const std::string& path, std::span<const std::string_view> pieces, bool sync) {
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return false;
  for (std::string_view piece : pieces) {
    if (!write_all(file.get(), piece)) return false;
  }
  if (sync && ::fsync(file.get()) != 0) return false;
  return file.close();
}

}  // namespace

std::string read_file(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to("readable", path);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) fail_to("readable", path);

  // The size is only a first guess (a pipe has none): the end is where read() says so, hence the byte more.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(2 * size + 4096);
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to("readable", path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

void write_atomically(const std::string& path, std::span<const std::string_view> pieces) {
  if (!replaceable(path)) {
    if (!write_pieces(path, pieces, false)) fail_to("writable", path);
    return;
  }
  // The process number keeps two programs that write the same file apart: the later rename wins, whole.
  const std::string partial = fmt::format("{}.{}.partial", path, ::getpid());
  if (write_pieces(partial, pieces, true) && std::rename(partial.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  ::unlink(partial.c_str());
  errno = error;
  fail_to("writable", path);
}

void write_atomically(const std::string& path, std::string_view bytes) {
  write_atomically(path, std::span(&bytes, 1));
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  require(!error && std::filesystem::is_directory(path), "{}: must be a directory that can be made; {}", path,
          error ? error.message() : "it is a file");
}

void remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  require(!error, "{}: must be removable; {}", path, error.message());
}

void exchange(const std::string& a, const std::string& b, const std::string& aside) {
  const auto rename = [](const std::string& from, const std::string& to) {
    return std::rename(from.c_str(), to.c_str()) == 0;
  };
  const bool exchanged = ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
  const bool unsupported = !exchanged && (errno == EINVAL || errno == ENOSYS);
  require(exchanged || (unsupported && rename(b, aside) && rename(a, b) && rename(aside, a)),
          "{}: is complete, but cannot take the place of {}; {}", a, b, std::strerror(errno));
}

}  // namespace tapestry
