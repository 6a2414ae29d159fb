// The clauses of an Accept header, parsed and sorted like kube-apiserver does it.
//
// Thread-safety: pure functions.
// Lifetime:      clauses contain views of the header.
// Errors:        malformed clauses are skipped.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace backplane::endpoints {

struct AcceptClause {
  std::string_view type;
  std::string_view subtype;
  double quality = 1.0;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
};

// Returns the clauses in the order of preference, the preferred clause first.
std::vector<AcceptClause> parse_accept(std::string_view header);

}  // namespace backplane::endpoints
