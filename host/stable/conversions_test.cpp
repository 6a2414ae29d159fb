#include "stable/conversions.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace backplane::stable {
namespace {

TEST(StableWords, WhatAnOlderPluginDoesNotKnowIsNull) {
  struct {
    bp_plugin table;
    char beyond;
  } given{};
  given.table.self = &given;
  given.table.validate = [](void*, bp_error*) -> int32_t { return 0; };
  given.table.struct_size = offsetof(bp_plugin, validate);
  const bp_plugin copy = copy_of(&given.table);
  EXPECT_EQ(copy.self, &given);
  EXPECT_EQ(copy.validate, nullptr);
  EXPECT_EQ(copy.struct_size, sizeof(bp_plugin));
}

TEST(StableWords, WhatANewerPluginKnowsIsNotRead) {
  struct {
    bp_plugin table;
    void* later;
  } given{};
  given.table.struct_size = sizeof(given);
  given.later = &given;
  EXPECT_EQ(copy_of(&given.table).destroy, nullptr);
}

TEST(StableWords, AnErrorSurvivesARoundTrip) {
  bp_error error{};
  EXPECT_EQ(fail(&error, not_found("apps", "deployments", "web")), -1);
  const Status back = status_of(error);
  EXPECT_EQ(back.code(), 404);
  EXPECT_EQ(back.reason(), Reason::kNotFound);
  EXPECT_EQ(back.message(), "deployments.apps \"web\" not found");
}

TEST(StableWords, ALongMessageIsCutAtTheEndOfACharacter) {
  bp_error error{};
  std::string text(sizeof(error.message) - 2, 'x');
  fail(&error, text + "ä");
  EXPECT_EQ(std::string(error.message), text);
}

TEST(StableWords, AnErrorWithoutAMessageIsTheDefaultOfTheCall) {
  EXPECT_EQ(status_of({}).code(), 500);
  EXPECT_EQ(status_of({}, Reason::kUnauthorized).code(), 401);
  bp_error odd{};
  odd.code = 7;
  EXPECT_EQ(status_of(odd).code(), 500);
  odd.code = 418;
  EXPECT_EQ(status_of(odd).code(), 418);
}

TEST(StableWords, AnExceptionDoesNotLeaveACallOfTheHost) {
  bp_error error{};
  EXPECT_EQ(guarded(&error, []() -> Status { throw std::runtime_error("no"); }), -1);
  EXPECT_STREQ(error.message, "no");
  EXPECT_EQ(guarded(&error, []() -> Status { throw 1; }), -1);
  EXPECT_EQ(guarded(nullptr, [] { return bad_request("no"); }), -1);
  EXPECT_EQ(guarded(&error, [] { return Status(); }), 0);
}

}  // namespace
}  // namespace backplane::stable
