// For tests: creates a review object (such as SubjectAccessReview) as the endpoint does, and returns the response.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "turn_executor.hpp"

namespace backplane::testing {

inline Task<void> ask(Creater& creater, RequestContext& context, Object& review, std::string& answer) {
  auto asking = creater.create(context, review, WriteOptions());
  auto answered = co_await std::move(asking);
  answer = answered.ok() ? std::string((*answered)->json().view()) : answered.status().message();
}

// The JSON of the response, or the message of the error.
inline std::string answer_of(RestStorage& storage, RequestContext& context, std::string_view review) {
  Value value = json::parse(json::string_view(review.data(), review.size()));
  EXPECT_TRUE(storage.schema()->normalize(value, nullptr).ok());
  std::string answer = "no answer";
  test::TurnExecutor turns;
  turns.start(ask(dynamic_cast<Creater&>(storage), context, value.get_object(), answer));
  return answer;
}

}  // namespace backplane::testing
