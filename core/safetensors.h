#pragma once
// safetensors: named arrays in one file, the format in which models travel between this library and PyTorch.
//
//   8 bytes     N, little-endian
//   N bytes     JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, padded with spaces
//   the rest    the numbers, little-endian and row-major; offsets count from here
//
// `__metadata__`, beside the names, maps strings to strings. (https://github.com/huggingface/safetensors, "Format")

#include <map>
#include <string>

#include "core/ids.h"
#include "core/tensor.h"

namespace tapestry {

/// What such a file holds, by the four dtypes there are here.
struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;  // F32 and F64
  std::map<std::string, Ids> integers;    // I64
  std::map<std::string, Ids> booleans;    // BOOL, as 0 and 1
  std::map<std::string, std::string> metadata;
};

/// Errors, each one line that starts with the path: the file cannot be read, is cut short, is another kind of file, or
/// breaks any rule of the format (the arrays must fill the data without gap or overlap, each as long as its shape
/// says); a dtype other than the four; a shape of more than six axes; an integer beyond 32 bits. A file that lies about
/// its sizes costs no memory.
SafetensorsFile read_safetensors(const std::string& path);

/// Writes atomically; equal contents give equal bytes. The arrays lie in the order of their element size, then of their
/// names, so that each starts at a multiple of its element size without a gap.
/// Errors: an array without a value, a name used twice or not UTF-8, the file cannot be written.
void write_safetensors(const std::string& path, const SafetensorsFile& file);

}  // namespace tapestry
