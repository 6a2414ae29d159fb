// Finds a request's flow schema.
//
// Many schemas name the same few groups and users, so each of them is matched with a request's user only once.
// Thread-safety: immutable once made.
// Lifetime:      keeps copies of the schemas.
#pragma once

#include <cstdint>
#include <vector>

#include "rules.hpp"

namespace backplane::flowcontrol {

class Classifier {
 public:
  Classifier() = default;
  // In the order in which they are tried.
  explicit Classifier(std::vector<FlowSchema> schemas);
  const std::vector<FlowSchema>& schemas() const noexcept { return schemas_; }
  // The first schema that matches; the last one, which matches all requests, if no other does.
  std::size_t find(const UserInfo& user, const RequestInfo& info) const noexcept;

 private:
  struct Row {
    std::size_t schema;
    std::uint64_t subjects;  // bits of the first 64 subjects
    bool more;               // the schema has further subjects
    FlowRule rule;
  };
  // The results of matching for a user.
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
