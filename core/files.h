#pragma once
// Whole files in, whole files out.

#include <span>
#include <string>
#include <string_view>

namespace tapestry {

/// All bytes of a file. Errors: `path: must be readable; No such file or directory` (or what else the system says: it
/// is a directory, it may not be read).
std::string read_file(const std::string& path);

/// Writes the pieces, one after the other, in place of what the file held. They go to a temporary name beside it, to
/// the disk, and only then to `path`: a full disk or a kill leaves what was there. Whatever is not a plain file (a
/// pipe, a device, a link) is written directly. Errors: `path: must be writable; No space left on device` or the like.
void write_atomically(const std::string& path, std::span<const std::string_view> pieces);
void write_atomically(const std::string& path, std::string_view bytes);

/// Makes a directory and those above it; one that is there is fine. Errors: `path: must be a directory that can be
/// made; Permission denied`, or `it is a file`.
void make_directory(const std::string& path);
/// Removes a file, or a directory with all that is in it; what is not there is fine. Errors: `path: must be removable;
/// ...`.
void remove_tree(const std::string& path);
/// Gives each of two files or directories the name of the other in one step: at no time is a name without one. A file
/// system that cannot do that goes by way of the name `aside`; a kill may then leave one there.
/// Errors: `a: is complete, but cannot take the place of b; ...`.
void exchange(const std::string& a, const std::string& b, const std::string& aside);

}  // namespace tapestry
