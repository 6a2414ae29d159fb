#include "backplane/core/status.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

// Regression: a body with 100,000 invalid items caused 100,000 errors, each of which the response contained twice.
TEST(FieldErrors, AreOnlyCountedPastABound) {
  FieldErrors errors;
  for (int i = 0; i < 100'000; ++i) errors.required("spec.items[" + std::to_string(i) + "].name");
  EXPECT_EQ(errors.size(), FieldErrors::kMost);
  EXPECT_EQ(errors.left_out(), 100'000 - FieldErrors::kMost);
  const Status status = errors.to_status("", "Thing", "a");
  EXPECT_TRUE(status.message().ends_with("spec.items[9999].name: Required value, and 90000 more errors]"));
  ASSERT_EQ(status.details()->causes.size(), FieldErrors::kMost + 1);
  EXPECT_EQ(status.details()->causes.back().message, "and 90000 more errors");
  FieldErrors both;
  both.forbidden("first", "no");
  both.add(errors);
  EXPECT_EQ(both.size(), FieldErrors::kMost);
  EXPECT_EQ(both.left_out(), errors.left_out() + 1);
}

TEST(FieldErrors, AreOfBoundedSize) {
  FieldErrors errors;
  errors.invalid("a", std::string(FieldErrors::kMostBytes, 'x'), "is too much");
  EXPECT_EQ(errors.size(), 1u) << "the first error is always kept";
  errors.invalid("b", "short", "is wrong");
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.left_out(), 1u);
  EXPECT_TRUE(errors.aggregate_message().ends_with("is too much, and 1 more error]"));
}

TEST(Status, NotFoundIsPrintedAsMetav1Status) {
  EXPECT_EQ(not_found("apps", "deployments", "web").to_json(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"web\" not found",)"
            R"("reason":"NotFound","details":{"name":"web","group":"apps","kind":"deployments"},"code":404})"
            "\n");
}

TEST(Status, SuccessIsOkAndPrintsSuccess) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), 200);
  EXPECT_EQ(status.to_json(), "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\"}\n");
}

TEST(Status, MessagesAreEscapedForHtml) { EXPECT_NE(bad_request("a < b & c").to_json().find(R"(a \u003c b \u0026 c)"), std::string::npos); }

TEST(Status, EveryReasonHasItsCode) {
  EXPECT_EQ(reason_code(Reason::kExpired), 410);
  EXPECT_EQ(reason_code(Reason::kInvalid), 422);
  EXPECT_EQ(reason_code(Reason::kServiceUnavailable), 503);
  EXPECT_EQ(reason_name(Reason::kServiceUnavailable), "ServiceUnavailable");
  EXPECT_EQ(reason_name(Reason::kNone), "");
}

TEST(Status, InternalErrorsCarryTheirCause) {
  const Status status = internal_error("disk is full");
  EXPECT_EQ(status.message(), "Internal error occurred: disk is full");
  ASSERT_NE(status.details(), nullptr);
  EXPECT_EQ(status.details()->causes.at(0).message, "disk is full");
}

TEST(Status, TooLargeResourceVersionAsksToRetry) {
  const Status status = too_large_resource_version(9, 3);
  EXPECT_EQ(status.code(), 504);
  EXPECT_EQ(status.message(), "Timeout: Too large resource version: 9, current: 3");
  EXPECT_EQ(status.details()->retry_after_seconds, 1);
  EXPECT_EQ(status.details()->causes.at(0).reason, "ResourceVersionTooLarge");
}

TEST(Status, CopiesAreIndependent) {
  Status first = conflict("", "configmaps", "a", "why");
  Status second = first;
  second.set_message("other");
  EXPECT_EQ(first.message(), "Operation cannot be fulfilled on configmaps \"a\": why");
}

TEST(FieldErrors, AMessageWithOneErrorHasNoBrackets) {
  FieldErrors errors;
  errors.required("spec.selector");
  const Status status = errors.to_status("apps", "Deployment", "d");
  EXPECT_EQ(status.code(), 422);
  EXPECT_EQ(status.message(), "Deployment.apps \"d\" is invalid: spec.selector: Required value");
  EXPECT_EQ(status.details()->kind, "Deployment");
  EXPECT_EQ(status.details()->causes.at(0).reason, "FieldValueRequired");
}

TEST(FieldErrors, TheMessageHasEachTextOnceAndTheCausesHaveAllErrors) {
  FieldErrors errors;
  errors.invalid("a", "x", "bad");
  errors.invalid("a", "x", "bad");
  errors.invalid("b", 3LL, "bad");
  EXPECT_EQ(errors.aggregate_message(), "[a: Invalid value: \"x\": bad, b: Invalid value: 3: bad]");
  EXPECT_EQ(errors.to_status("", "Pod", "p").details()->causes.size(), 3u);
}

TEST(FieldErrors, EveryKindOfErrorHasItsMessage) {
  FieldErrors errors;
  errors.not_supported("a", "x", {"y", "z"});
  errors.too_long("a", "x", 63);
  errors.too_many("a", 3, 2);
  errors.duplicate("a", "x");
  errors.forbidden("a", "no");
  errors.not_found("", "x");
  errors.invalid_raw("a", "null", "must be set");
  errors.type_invalid("a", "\"x\"", "must be of type integer");
  std::vector<std::string> texts;
  for (const FieldError& error : errors.list()) texts.push_back(error.text);
  EXPECT_EQ(texts, (std::vector<std::string>{R"(Unsupported value: "x": supported values: "y", "z")",
                                             "Too long: may not be more than 63 bytes", "Too many: 3: must have at most 2 items",
                                             R"(Duplicate value: "x")", "Forbidden: no", R"(Not found: "x")",
                                             "Invalid value: null: must be set", R"(Invalid value: "x": must be of type integer)"}));
  EXPECT_NE(errors.aggregate_message().find("<nil>: Not found"), std::string::npos);
}

TEST(Quoted, IsGosPercentQ) {
  EXPECT_EQ(quoted("a\"b\\c\n\x01\x7f"), R"("a\"b\\c\n\x01\x7f")");
  EXPECT_EQ(quoted("grüße"), "\"grüße\"");
  EXPECT_EQ(quoted("\xff"), R"("\xff")");
  EXPECT_EQ(quoted("\xe2\x80\xa8"), R"("\u2028")");
}

}  // namespace
}  // namespace backplane
