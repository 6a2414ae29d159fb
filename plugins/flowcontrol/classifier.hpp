// Finds a request's flow schema.
//
// Many schemas name the same few groups and users. Each group and user is compared with a request's user only once.
// Thread-safety: immutable once made.
// Lifetime:      owns copies of the schemas.
#pragma once

#include <cstdint>
#include <vector>

#include "rules.hpp"

namespace backplane::flowcontrol {

class Classifier {
 public:
  Classifier() = default;
  // `schemas`: in the order in which they are tried.
  explicit Classifier(std::vector<FlowSchema> schemas);
  const std::vector<FlowSchema>& schemas() const noexcept { return schemas_; }
  // The first schema that matches; the last one, which matches all requests, if no other does.
  std::size_t find(const UserInfo& user, const RequestInfo& info) const noexcept;

 private:
  struct Row {
    std::size_t schema;
    std::uint64_t subjects;  // bit n: the rule names subjects_[n]; for the first 64 subjects
    bool more;               // the rule names further subjects
    FlowRule rule;
  };
  // Results of comparing subjects with one user: bits of the compared subjects (`asked`) and of the matching subjects (`is`).
  struct Known {
    std::uint64_t asked = 0, is = 0;
  };
  bool is_one(std::uint64_t subjects, const UserInfo& user, Known& known) const noexcept;
  std::size_t number_of(const Subject& subject);

  std::vector<FlowSchema> schemas_;
  std::vector<Subject> subjects_;
  std::vector<Row> rows_;
};

}  // namespace backplane::flowcontrol
