#include "conversion_review.hpp"

#include <gtest/gtest.h>

#include "review_decoding.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {
namespace {

std::vector<Object> asked(int count) {
  std::vector<Object> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(json::parse(R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"n)" + std::to_string(i) +
                              R"(","namespace":"a","uid":"u","labels":{"a":"b"}},"size":1})")
                      .as_object());
  }
  return out;
}

ReviewQuestion question(const std::string& version = "v1") { return {version, "7", "example.com/v1, Kind=Foo", "example.com/v2"}; }

// A response with the converted objects.
std::string answer(const std::string& objects, const std::string& version = "v1", const std::string& uid = "7") {
  return R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/)" + version + R"(","response":{"uid":")" + uid +
         R"(","result":{"status":"Success"},"convertedObjects":[)" + objects + "]}}";
}
std::string object(const std::string& metadata = R"({"name":"n0","namespace":"a","uid":"u"})", const std::string& rest = "") {
  return R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":)" + metadata + rest + "}";
}

std::string problem(const std::string& body, int count = 1, const std::string& version = "v1") {
  const std::vector<Object> objects = asked(count);
  return read_answer(question(version), objects, {200, "application/json", body}).problem;
}

TEST(ConversionReviewTest, AsksInTheFirstVersionThatIsKnown) {
  EXPECT_EQ(choose_review({"v2", "v1beta1", "v1"}), "v1beta1");
  EXPECT_EQ(choose_review({"v2"}), "");
  const std::vector<Object> objects = asked(1);
  EXPECT_EQ(
      ask(question(), objects),
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"7","desiredAPIVersion":"example.com/v2",)"
      R"("objects":[{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"n0","namespace":"a","uid":"u","labels":{"a":"b"}},)"
      R"("size":1}]},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}})");
}

TEST(ConversionReviewTest, OnlyLabelsAndAnnotationsOfMetadataMayChange) {
  const std::vector<Object> objects = asked(1);
  const std::string body =
      answer(object(R"({"name":"n0","namespace":"a","uid":"u","annotations":{"c":"d"},"generation":9})", R"(,"width":2)"));
  const ReviewAnswer read = read_answer(question(), objects, {200, "application/json", body});
  EXPECT_EQ(read.problem, "");
  ASSERT_EQ(read.objects.size(), 1U);
  EXPECT_EQ(
      to_json(read.objects[0]),
      R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{"name":"n0","namespace":"a","uid":"u","annotations":{"c":"d"}},"width":2})");
}

TEST(ConversionReviewTest, AnswersToSomethingElseAreRefused) {
  const std::string start = "conversion webhook for example.com/v1, Kind=Foo failed: ";
  EXPECT_EQ(problem(answer(object(), "v1", "8")), start + R"(expected response.uid="7", got "8")");
  EXPECT_EQ(problem(answer(object(), "v1beta1")),
            start + "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion");
  EXPECT_EQ(problem(R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"})"), start + "no response provided");
  EXPECT_EQ(problem("{}"), start + "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=");
  EXPECT_EQ(problem(R"({"kind":"Other","apiVersion":"apiextensions.k8s.io/v1"})"),
            start + R"(no kind "Other" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111")");
  EXPECT_EQ(problem(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"down"})"),
            start + "converting (v1.Status) to (v1.ConversionReview): unknown conversion");
  EXPECT_EQ(problem(R"({"kind":"ConversionReview","response":[]})"),
            start + "json: cannot unmarshal array into Go struct field ConversionReview.response of type v1.ConversionResponse");
  // v1beta1 did not require uid and kind.
  EXPECT_EQ(problem(answer(object(), "v1beta1", "8"), 1, "v1beta1"), "");
}

TEST(ConversionReviewTest, AFailureHasTheWebhooksMessage) {
  const auto failed = [](const std::string& result) {
    return problem(R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"7","result":)" + result + "}}");
  };
  EXPECT_EQ(failed(R"({"status":"Failure","message":"no"})"), "conversion webhook for example.com/v1, Kind=Foo failed: no");
  EXPECT_EQ(failed("{}"), "conversion webhook for example.com/v1, Kind=Foo failed: response.result.status was '', not 'Success'");
}

TEST(ConversionReviewTest, ObjectsAreAsManyAsAsked) {
  EXPECT_EQ(problem(answer(""), 1), "conversion webhook for example.com/v1, Kind=Foo returned 0 objects, expected 1");
  EXPECT_EQ(problem(answer(object() + "," + object()), 1),
            "conversion webhook for example.com/v1, Kind=Foo returned 2 objects, expected 1");
}

TEST(ConversionReviewTest, ObjectsAreWhatTheyWere) {
  const std::string start = "conversion webhook for example.com/v1, Kind=Foo returned invalid ";
  EXPECT_EQ(problem(answer(object(R"({"name":"x","namespace":"a","uid":"u"})"))), start + "object: must have the same name: n0 != x");
  EXPECT_EQ(problem(answer(object(R"({"name":"n0","namespace":"a","uid":"w"})"))), start + "object: must have the same UID: u != w");
  EXPECT_EQ(problem(answer(R"({"apiVersion":"example.com/v3","kind":"Foo"})")),
            start + "object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)");
  EXPECT_EQ(problem(answer(R"({"apiVersion":"example.com/v2","kind":"Bar"})")),
            start + "object at index 0: invalid kind (expected Foo, received Bar)");
  EXPECT_EQ(problem(answer(object(R"({"name":"n0","namespace":"a","uid":"u","labels":{"a":1}})"))),
            start + "metadata: metadata.labels[a] must be a string, but is int64 in converted object");
  EXPECT_NE(
      problem(answer(object(R"({"name":"n0","namespace":"a","uid":"u","labels":{"a":"b c"}})"))).find(start + "metadata: metadata.labels"),
      std::string::npos);
  EXPECT_EQ(problem(answer(object() + "," + object()), 2), start + "converted object at index 1: must have the same name: n1 != n0");
}

TEST(ConversionReviewTest, BodiesThatAreNoReviewAreRefused) {
  for (const char* body : {"", "x", "[]", "7", "{", R"({"kind":"Status","status":"Failure","message":"down"})"}) {
    EXPECT_TRUE(problem(body).starts_with("conversion webhook for example.com/v1, Kind=Foo failed: ")) << body << ": " << problem(body);
  }
  for (const char* objects : {"7", "null", "[]", "{}"}) EXPECT_NE(problem(answer(objects)), "") << objects;
}

TEST(ConversionReviewTest, ASingleUnreadableObjectIsReportedWithoutTheWebhook) {
  EXPECT_EQ(problem(answer("null")), "unexpected end of JSON input");
  EXPECT_EQ(problem(answer("7")), "json: cannot unmarshal number into Go value of type map[string]interface {}");
  EXPECT_EQ(problem(answer(R"({"a":1})")), R"(Object 'Kind' is missing in '{"a":1}')");
  EXPECT_EQ(
      problem(answer(object() + ",7"), 2),
      "conversion webhook for example.com/v1, Kind=Foo returned invalid converted object at index 1: json: cannot unmarshal number into Go "
      "value of type map[string]interface {}");
}

TEST(ConversionReviewTest, ErrorResponsesAreReportedAsByClientGo) {
  const std::string status = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"down"})";
  EXPECT_EQ(error_answer_message(500, "application/json", status), "down");
  EXPECT_EQ(error_answer_message(500, "text/plain", " it \"broke\"\n"),
            R"(an error on the server ("it \"broke\"") has prevented the request from succeeding)");
  EXPECT_EQ(error_answer_message(500, "application/json", R"({"status":"Failure","message":"down"})"),
            R"(an error on the server ("unknown") has prevented the request from succeeding)");
  EXPECT_EQ(error_answer_message(415, "text/plain; charset=utf-8", "what"), "what");
  EXPECT_EQ(error_answer_message(406, "", ""), "the server was unable to respond with a content type that the client supports");
  EXPECT_EQ(error_answer_message(302, "text/plain", "there"),
            "the server responded with the status code 302 but did not return more information");
}

TEST(ConversionReviewTest, AnyBytesAreReadOrRefused) {
  const std::vector<Object> objects = asked(2);
  const std::string other = object(R"({"name":"n1","namespace":"a","uid":"u","labels":{"x":"y"}})");
  const std::string whole = answer(object() + "," + other);
  ASSERT_EQ(read_answer(question(), objects, {200, "application/json", whole}).problem, "");
  const auto look = [&](const std::string& body) {
    const ReviewAnswer read = read_answer(question(), objects, {200, "application/json", body});
    EXPECT_TRUE(read.problem.empty() ? read.objects.size() == objects.size() : read.fault != ReviewFault::kNone) << body;
    for (const Object& each : read.objects) EXPECT_EQ(meta_text(each, "uid"), "u") << body;
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    look(whole.substr(0, i));
    for (const char byte : {'{', '"', ']', '0', '\0', '\xff'}) {
      std::string changed = whole;
      changed[i] = byte;
      look(changed);
    }
  }
}

}  // namespace
}  // namespace backplane::apiextensions
