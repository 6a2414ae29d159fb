// Runs the selected controllers of the table, one term after another.
//
// Thread-safety: the plugin's executor.
// Lifetime:      shared by the leadership and the hooks; the host outlives it.
// Errors:        a controller that cannot start is logged and left out of the term.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frame/context.hpp"

namespace backplane::controllers {

class Runner {
 public:
  Runner(Host& host, std::vector<ControllerRow> rows, std::shared_ptr<GroupChanges> changes)
      : host_(host), rows_(std::move(rows)), changes_(std::move(changes)) {}
  void begin_term();
  void end_term();

 private:
  Host& host_;
  const std::vector<ControllerRow> rows_;
  const std::shared_ptr<GroupChanges> changes_;
  std::shared_ptr<Term> term_;
  std::vector<std::string> running_;  // the names of the controllers that run in the term
};

}  // namespace backplane::controllers
