#include "fields/problems.hpp"

namespace backplane::fields {

Status Problems::status() const {
  if (list_.empty()) return {};
  const auto text = [](const Problem& problem) { return problem.path.empty() ? problem.text : problem.path + ": " + problem.text; };
  if (list_.size() == 1) return Status(500, Reason::kInternalError, text(list_.front()));
  std::string out = "errors:";
  for (const Problem& problem : list_) out += "\n  " + text(problem);
  return Status(500, Reason::kInternalError, std::move(out));
}

}  // namespace backplane::fields
