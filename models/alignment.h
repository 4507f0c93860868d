#pragma once
// Which target words translate which source words, and how far two such opinions are apart.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tapestry {

/// The links of one sentence pair: (source position, target position), sorted and without repetition.
using Alignment = std::vector<std::pair<int, int>>;

/// The alignment that knows nothing but the two lengths: target token j of T, taken at its middle, looks at the same
/// relative place of the S source tokens, floor((j + 0.5) S / T). Any attention worth its name must beat it.
Alignment diagonal_alignment(std::size_t source_length, std::size_t target_length);

/// Alignment error rate over a corpus: 1 - 2 |A and G| / (|A| + |G|), in [0, 1], all links of all sentences counted
/// together (Och & Ney 2003, with every gold link sure). 0 when both hold no link at all. Links may come in any order,
/// a repeated one counts once. Throws Error unless both hold the same number of sentences.
double alignment_error_rate(const std::vector<Alignment>& proposed, const std::vector<Alignment>& gold);

/// Reads gold links, a line a sentence pair, as Pharaoh's format has them: `0-0 2-1`, place in the source and place in
/// the target from 0. A blank line has none. Errors: those of read_lines; `path:line: ...` for anything else.
std::vector<Alignment> read_alignments(const std::string& path);

}  // namespace tapestry
