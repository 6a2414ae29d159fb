// For tests: a kind with its schema and strategy, which are called as the host calls them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backplane/kit/group.hpp"

namespace backplane::testing {

class KindUnderTest {
 public:
  KindUnderTest(kit::KindRow row, const SchemaSet& schemas, std::string_view group)
      : row_(std::move(row)), strategy_(row_.strategy()), schema_(schemas.find(GroupVersionKind{std::string(group), "v1", row_.kind})) {
    EXPECT_NE(schema_, nullptr) << row_.kind;
  }

  const Strategy& strategy() const { return *strategy_; }

  Object normalized(std::string_view text) const {
    Value value = json::parse(json::string_view(text.data(), text.size()));
    const Status status = schema_->normalize(value, nullptr);
    EXPECT_TRUE(status.ok()) << status.message();
    return value.get_object();
  }
  // The object with the defaults of the schema and of the strategy.
  Object defaulted(std::string_view text) const {
    Value value = normalized(text);
    schema_->apply_defaults(value);
    strategy_->apply_defaults(value.get_object());
    EXPECT_TRUE(schema_->normalize(value, nullptr).ok());  // replaces the input by the result
    return value.get_object();
  }
  Object created(std::string_view text) const {
    Object object = defaulted(text);
    RequestContext context;
    strategy_->prepare_for_create(context, object);
    return object;
  }

  std::string problems(const Object& object) const {
    FieldErrors errors;
    RequestContext context;
    schema_->check(object, nullptr, strategy_->facts().checked, "", errors);
    strategy_->validate(context, object, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  std::string change_problems(const Object& object, const Object& old) const {
    FieldErrors errors;
    RequestContext context;
    schema_->check(object, &old, strategy_->facts().checked, "", errors);
    strategy_->validate_update(context, object, old, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }

 private:
  kit::KindRow row_;
  std::shared_ptr<const Strategy> strategy_;
  const Schema* schema_;
};

}  // namespace backplane::testing
