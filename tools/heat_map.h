#pragma once
// The picture of attention: which source words a model looked at while it wrote each target word.

#include <string>
#include <string_view>

#include "core/tensor.h"
#include "models/tokenizer.h"

namespace tapestry {

/// Weights [rows, columns] of 0 to 1, with the tokens of both axes.
struct HeatMap {
  Tokens rows, columns;
  Tensor weights;
};

/// Heat maps below each other, as one self-contained SVG file.
class HeatMapSheet {
 public:
  explicit HeatMapSheet(std::string title = "Attention",
                        std::string legend = "0 to 100 % of each row. Across: source words. Down: target words.")
      : title_(std::move(title)), legend_(std::move(legend)) {}
  /// Errors: the weights are not [rows, columns].
  void add(const HeatMap& map);
  std::string svg() const;

 private:
  void draw_column_labels(const HeatMap& map, double left, double bottom);
  void draw_row(const HeatMap& map, Index row, double left, double top);

  std::string title_, legend_, body_;
  double width_ = 0, height_ = 0;
};

/// `text` for XML: & < > and both quotes escaped; what XML cannot hold is U+FFFD.
std::string escape_xml(std::string_view text);

}  // namespace tapestry
