#include "endpoints/accept.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "endpoints/header_tokens.hpp"

namespace backplane::endpoints {
namespace {

// Returns nullopt if the clause is malformed. parse_accept() skips such clauses.
std::optional<AcceptClause> parse_clause(std::string_view part) {
  std::string_view rest = trim(part);
  std::string_view media = take(rest, ';');
  AcceptClause clause;
  clause.type = trim(take(media, '/'));
  if (media.empty()) {
    if (clause.type != "*") return std::nullopt;
    clause.subtype = "*";
  } else {
    clause.subtype = trim(take(media, '/'));
    if (!media.empty()) return std::nullopt;
  }
  while (!rest.empty()) {
    std::string_view value = take(rest, ';');
    const std::string_view name = trim(take(value, '='));
    if (value.empty() || value.find('=') != std::string_view::npos) continue;
    if (name == "q") {
      clause.quality = std::strtod(std::string(value).c_str(), nullptr);
    } else {
      clause.parameters.emplace_back(name, trim(value));
    }
  }
  return clause;
}

bool precedes(const AcceptClause& a, const AcceptClause& b) noexcept {
  if (a.quality > b.quality) return true;
  if (a.type != "*" && b.type == "*") return true;
  return a.subtype != "*" && b.subtype == "*";
}

// A strict weak order that corresponds to precedes(): by quality, then types other than "*" first, then subtypes other than "*" first.
bool precedes_strictly(const AcceptClause& a, const AcceptClause& b) noexcept {
  const double first = std::isnan(a.quality) ? 0 : a.quality, second = std::isnan(b.quality) ? 0 : b.quality;
  if (first != second) return first > second;
  if ((a.type == "*") != (b.type == "*")) return b.type == "*";
  return a.subtype != "*" && b.subtype == "*";
}

// Go sorts so few elements by insertion. precedes() is not a strict weak order, and clients depend on the result of the insertion sort.
// For longer lists, only the run time matters.
constexpr std::size_t kSortedByInsertion = 12;

void sort_clauses(std::vector<AcceptClause>& clauses) {
  if (clauses.size() > kSortedByInsertion) {
    std::stable_sort(clauses.begin(), clauses.end(), precedes_strictly);
    return;
  }
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    for (std::size_t j = i; j > 0 && precedes(clauses[j], clauses[j - 1]); --j) std::swap(clauses[j], clauses[j - 1]);
  }
}

}  // namespace

std::vector<AcceptClause> parse_accept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  while (!header.empty()) {
    if (auto clause = parse_clause(take(header, ','))) clauses.push_back(std::move(*clause));
  }
  sort_clauses(clauses);
  return clauses;
}

}  // namespace backplane::endpoints
