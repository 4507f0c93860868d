#include "core/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"

namespace tapestry {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied between file and memory as they are");

using Json = nlohmann::json;

constexpr const char* metadata_key = "__metadata__";
constexpr std::size_t length_bytes = 8;
// Far beyond any array, and far enough from overflow to multiply by an element size.
constexpr Index most_elements = Index{1} << 58;

/// 0 for a dtype that is not read here.
std::size_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32") return 4;
  return dtype == "BOOL" ? 1 : 0;
}

/// A name as it may stand in a message of one line: in quotes, control characters escaped.
std::string in_quotes(const std::string& name) {
  return Json(name).dump();
}

// ---- Reading --------------------------------------------------------------------------------------------------------

struct Entry {
  std::string name, dtype;
  Shape shape;
  std::size_t begin = 0, end = 0;  // bytes of the data
};

/// The JSON text between the length and the data.
std::string_view header_text(const std::string& path, std::string_view bytes) {
  require(bytes.size() >= length_bytes, "{}: must start with the 8 bytes of a safetensors header length; it has {}",
          path, bytes.size());
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), length_bytes);
  const std::size_t rest = bytes.size() - length_bytes;
  require(length <= rest, "{}: the safetensors header must lie within the file; its length is {}, {} bytes follow",
          path, length, rest);
  const std::string_view text = bytes.substr(length_bytes, static_cast<std::size_t>(length));
  require(text.starts_with('{'), "{}: the safetensors header must be a JSON object; it does not start with {{", path);
  return text;
}

Json parse_header(const std::string& path, std::string_view text) {
  // The parser keeps the last of two equal names; here that would hide an array, so names are watched as they come.
  std::vector<std::set<std::string>> names;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      require(names.back().insert(name).second, "{}: names in the header must differ; {} is there twice", path,
              in_quotes(name));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    fail(fmt::format("{}: the safetensors header must be JSON; it is not at byte {}", path, error.byte));
  } catch (const Json::exception&) {
    fail(fmt::format("{}: the safetensors header must be JSON; a number in it is out of range", path));
  }
}

std::map<std::string, std::string> metadata_of(const std::string& path, const Json& json) {
  require(json.is_object(), "{}: {} must map strings to strings; it is of type {}", path, metadata_key,
          json.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    require(value.is_string(), "{}: {} must map strings to strings; {} is of type {}", path, metadata_key,
            in_quotes(key), value.type_name());
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// `key` of an array's entry: a list of integers that are not negative and fit Index.
std::vector<Index> integer_list(const std::string& path, const Entry& entry, const Json& json, const char* key) {
  const auto found = json.find(key);
  const auto is_size = [](const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<Index>::max();
  };
  require(found != json.end() && found->is_array() && std::all_of(found->begin(), found->end(), is_size),
          "{}: {} must have \"{}\", a list of sizes; given {}", path, in_quotes(entry.name), key,
          found == json.end() ? "none" : "something else");
  return found->get<std::vector<Index>>();
}

Shape shape_of(const std::string& path, const Entry& entry, const std::vector<Index>& sizes) {
  require(sizes.size() <= Shape::max_rank, "{}: {} must have at most {} axes; given {}", path, in_quotes(entry.name),
          Shape::max_rank, sizes.size());
  Index elements = 1;  // an axis of size 0 counts as 1: Shape multiplies in order and must not overflow before it
  for (Index size : sizes) {
    const Index factor = std::max<Index>(size, 1);
    require(factor <= most_elements / elements, "{}: {} must have at most 2^58 elements; its shape has more", path,
            in_quotes(entry.name));
    elements *= factor;
  }
  return Shape(std::span(sizes));
}

Entry entry_of(const std::string& path, const std::string& name, const Json& json) {
  Entry entry{.name = name, .dtype = {}, .shape = {}};
  require(json.is_object() && json.contains("dtype") && json["dtype"].is_string(),
          "{}: {} must have a \"dtype\"; given none", path, in_quotes(name));
  entry.dtype = json["dtype"].get<std::string>();
  const std::size_t element = element_bytes(entry.dtype);
  require(element > 0, "{}: {} must be F32, F64, I64 or BOOL; given {}", path, in_quotes(name), in_quotes(entry.dtype));
  entry.shape = shape_of(path, entry, integer_list(path, entry, json, "shape"));

  const auto offsets = integer_list(path, entry, json, "data_offsets");
  const std::size_t needed = static_cast<std::size_t>(entry.shape.numel()) * element;
  require(
      offsets.size() == 2 && offsets[0] <= offsets[1] && static_cast<std::size_t>(offsets[1] - offsets[0]) == needed,
      "{}: {} is {} {}, so its two data_offsets must be {} bytes apart; given [{}]", path, in_quotes(name), entry.dtype,
      entry.shape, needed, fmt::join(offsets, ", "));
  entry.begin = static_cast<std::size_t>(offsets[0]);
  entry.end = static_cast<std::size_t>(offsets[1]);
  return entry;
}

/// Errors unless the entries, one after the other, fill the data exactly.
void require_filled(const std::string& path, std::vector<Entry>& entries, std::size_t data_size) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::size_t expected = 0;
  for (const Entry& entry : entries) {
    require(entry.begin == expected, "{}: arrays must lie one after the other; {} should start at byte {}, given {}",
            path, in_quotes(entry.name), expected, entry.begin);
    require(entry.end <= data_size, "{}: {} must end within the {} bytes of data; given {} (the file is cut short)",
            path, in_quotes(entry.name), data_size, entry.end);
    expected = entry.end;
  }
  require(expected == data_size, "{}: arrays must fill the data; they take {} bytes of {}", path, expected, data_size);
}

Tensor tensor_of(const Entry& entry, std::string_view data) {
  const Tensor tensor = Tensor::empty(entry.shape, entry.dtype == "F32" ? DType::f32 : DType::f64);
  dispatch(tensor.dtype(), [&]<class T> {
    if (!data.empty()) std::memcpy(tensor.data<T>(), data.data(), data.size());
  });
  return tensor;
}

Ids integers_of(const std::string& path, const Entry& entry, std::string_view data) {
  std::vector<std::int32_t> values(data.size() / sizeof(std::int64_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t value;
    std::memcpy(&value, data.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<std::int32_t>(value);
    require(values[i] == value, "{}: integers must fit 32 bits; {} holds {}", path, in_quotes(entry.name), value);
  }
  return Ids(std::move(values), entry.shape);
}

Ids booleans_of(const std::string& path, const Entry& entry, std::string_view data) {
  std::vector<std::int32_t> values(data.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<unsigned char>(data[i]);
    require(values[i] <= 1, "{}: a BOOL must be 0 or 1; {} holds {}", path, in_quotes(entry.name), values[i]);
  }
  return Ids(std::move(values), entry.shape);
}

// ---- Writing --------------------------------------------------------------------------------------------------------

/// An array on its way out. The bytes belong to the tensor, or to `converted`.
struct Piece {
  std::string name, dtype;
  Shape shape;
  std::string converted;
  std::string_view bytes;
};

Piece piece_of(const std::string& name, const Tensor& tensor) {
  Piece piece{name, tensor.dtype() == DType::f32 ? "F32" : "F64", tensor.shape(), {}, {}};
  dispatch(tensor.dtype(), [&]<class T> {
    piece.bytes = {reinterpret_cast<const char*>(tensor.data<T>()),
                   static_cast<std::size_t>(tensor.numel()) * sizeof(T)};
  });
  return piece;
}

/// T is the type of an element in the file.
template <class T>
Piece piece_of(const std::string& name, const char* dtype, const Ids& ids) {
  Piece piece{name, dtype, ids.shape(), std::string(static_cast<std::size_t>(ids.numel()) * sizeof(T), '\0'), {}};
  char* to = piece.converted.data();
  for (std::int32_t value : ids.values()) {
    const T element = static_cast<T>(value);
    std::memcpy(to, &element, sizeof(T));
    to += sizeof(T);
  }
  return piece;
}

std::vector<Piece> pieces_of(const std::string& path, const SafetensorsFile& file) {
  std::vector<Piece> pieces;
  const auto require_value = [&](const std::string& name, bool has_value) {
    require(has_value, "{}: {} must have a value to be saved; it has none", path, in_quotes(name));
  };
  for (const auto& [name, tensor] : file.tensors) {
    require_value(name, static_cast<bool>(tensor));
    pieces.push_back(piece_of(name, tensor));
  }
  for (const auto& [name, ids] : file.integers) {
    require_value(name, static_cast<bool>(ids));
    pieces.push_back(piece_of<std::int64_t>(name, "I64", ids));
  }
  for (const auto& [name, ids] : file.booleans) {
    require_value(name, static_cast<bool>(ids));
    pieces.push_back(piece_of<std::uint8_t>(name, "BOOL", ids));
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    const std::size_t a_bytes = element_bytes(a.dtype), b_bytes = element_bytes(b.dtype);
    return a_bytes != b_bytes ? a_bytes > b_bytes : a.name < b.name;
  });
  for (Piece& piece : pieces) {  // only now: a moved string may move its bytes
    if (!piece.converted.empty()) piece.bytes = piece.converted;
  }
  return pieces;
}

/// Length and JSON, padded so that the data starts at a multiple of 8.
std::string header_of(const std::string& path, const std::vector<Piece>& pieces,
                      const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json[metadata_key] = metadata;
  std::size_t offset = 0;
  for (const Piece& piece : pieces) {
    require(!json.contains(piece.name) && piece.name != metadata_key, "{}: names of arrays must differ; {} is taken",
            path, in_quotes(piece.name));
    const std::vector<Index> sizes(piece.shape.begin(), piece.shape.end());
    json[piece.name] = {
        {"dtype", piece.dtype}, {"shape", sizes}, {"data_offsets", {offset, offset + piece.bytes.size()}}};
    offset += piece.bytes.size();
  }
  std::string text = json.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  std::string header(length_bytes, '\0');
  std::memcpy(header.data(), &length, length_bytes);
  return header + text;
}

}  // namespace

SafetensorsFile read_safetensors(const std::string& path) {
  const std::string bytes = read_file(path);
  const std::string_view text = header_text(path, bytes);
  const std::string_view data = std::string_view(bytes).substr(length_bytes + text.size());

  SafetensorsFile file;
  std::vector<Entry> entries;
  const Json header = parse_header(path, text);
  for (const auto& [name, json] : header.items()) {
    if (name == metadata_key) {
      file.metadata = metadata_of(path, json);
    } else {
      entries.push_back(entry_of(path, name, json));
    }
  }
  require_filled(path, entries, data.size());  // from here on no size can be a lie
  for (const Entry& entry : entries) {
    const std::string_view array = data.substr(entry.begin, entry.end - entry.begin);
    if (entry.dtype == "I64") {
      file.integers[entry.name] = integers_of(path, entry, array);
    } else if (entry.dtype == "BOOL") {
      file.booleans[entry.name] = booleans_of(path, entry, array);
    } else {
      file.tensors[entry.name] = tensor_of(entry, array);
    }
  }
  return file;
}

void write_safetensors(const std::string& path, const SafetensorsFile& file) try {
  const std::vector<Piece> pieces = pieces_of(path, file);
  const std::string header = header_of(path, pieces, file.metadata);
  std::vector<std::string_view> bytes = {header};
  for (const Piece& piece : pieces) bytes.push_back(piece.bytes);
  write_atomically(path, bytes);
} catch (const Json::type_error&) {
  fail(fmt::format("{}: names and metadata must be UTF-8; some are not", path));
}

}  // namespace tapestry
