// Events as JSON and as text.
#include <gtest/gtest.h>

#include "backplane/kit/audit_event_json.hpp"
#include "backplane/kit/audit_event_text.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::audit {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

const system_clock::time_point kTime = system_clock::time_point() + std::chrono::seconds(1'793'000'000) + 123'456'789ns;

AuditEvent event_of(AuditStage stage) {
  auto request = std::make_shared<AuditRequest>();
  request->audit_id = "id-1";
  request->request_uri = "/api/v1/namespaces/n/pods?a=<b>";
  request->verb = "create";
  request->user = UserInfo{"jane", "u1", {"dev", "ops"}, {{"z", {"1"}}, {"a", {"2", "3"}}}};
  request->source_ips = {"10.0.0.1"};
  request->user_agent = "kubectl";
  request->resource_request = true;
  request->resource = "pods";
  request->ns = "n";
  request->api_version = "v1";
  request->received = kTime;
  AuditEvent event;
  event.level = AuditLevel::kMetadata;
  event.stage = stage;
  event.request = std::move(request);
  event.stage_reached = kTime + 1ms;
  return event;
}

std::string json_of(const AuditEvent& event, bool truncated = false) {
  std::string out;
  kit::AuditEventEncoder().append(out, event, truncated);
  EXPECT_TRUE(read_json(out).has_value()) << out;
  return out;
}

std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from, text.find(end, from + begin.size()) - from);
}

TEST(AuditEventJson, HasUpstreamsMembersInItsOrder) {
  AuditEvent event = event_of(AuditStage::kRequestReceived);
  EXPECT_EQ(json_of(event),
            R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"id-1","stage":"RequestReceived",)"
            R"("requestURI":"/api/v1/namespaces/n/pods?a=\u003cb\u003e","verb":"create","user":{"username":"jane","uid":"u1",)"
            R"("groups":["dev","ops"],"extra":{"a":["2","3"],"z":["1"]}},"sourceIPs":["10.0.0.1"],"userAgent":"kubectl",)"
            R"("objectRef":{"resource":"pods","namespace":"n","apiVersion":"v1"},)"
            R"("requestReceivedTimestamp":"2026-10-26T07:33:20.123456Z","stageTimestamp":"2026-10-26T07:33:20.124456Z"})");
  event = event_of(AuditStage::kResponseComplete);
  event.level = AuditLevel::kRequestResponse;
  event.impersonated_user = UserInfo{"joe", "", {}, {}};
  event.impersonation_constraint = "impersonate:user-info";
  event.name = "p";
  event.uid = "u-2";
  event.resource_version = "7";
  event.response_code = 201;
  event.request_object = SharedBytes::from_static("{ \"a\":\n [1, \"x <\"] }");
  event.response_object = SharedBytes::from_static(R"({"b":2})");
  event.annotations = {{"k", "v"}, {"authorization.k8s.io/decision", "allow"}};
  const std::string json = json_of(event);
  EXPECT_EQ(between(json, ",\"impersonatedUser\"", ",\"sourceIPs\""),
            R"(,"impersonatedUser":{"username":"joe"},"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"})");
  EXPECT_EQ(between(json, ",\"objectRef\"", ",\"requestReceivedTimestamp\""),
            R"(,"objectRef":{"resource":"pods","namespace":"n","name":"p","uid":"u-2","apiVersion":"v1","resourceVersion":"7"},)"
            R"("responseStatus":{"metadata":{},"code":201},"requestObject":{"a":[1,"x \u003c"]},"responseObject":{"b":2})");
  EXPECT_TRUE(json.ends_with(R"(,"annotations":{"authorization.k8s.io/decision":"allow","k":"v"}})")) << json;
}

TEST(AuditEventJson, ResponseStatusIsUpstreams) {
  AuditEvent event = event_of(AuditStage::kResponseComplete);
  const auto status = [&] { return between(json_of(event), "\"responseStatus\"", ",\"requestReceivedTimestamp\""); };
  EXPECT_EQ(status(), R"("responseStatus":{"metadata":{},"status":"Success","message":"Connection closed early","code":200})");
  event.response_code = 404;
  event.response_status = not_found("", "pods", "p");
  EXPECT_EQ(status(), R"("responseStatus":{"metadata":{},"status":"Failure","message":"pods \"p\" not found","reason":"NotFound",)"
                      R"("details":{"name":"p","kind":"pods"},"code":404})");
  event.response_status = Status();
  event.response_code = 200;
  event.success_details = StatusDetails{"p", "", "pods", "u-2", {}, 0};
  EXPECT_EQ(status(), R"("responseStatus":{"metadata":{},"status":"Success","details":{"name":"p","kind":"pods","uid":"u-2"},"code":200})");
}

TEST(AuditEventJson, TheUserIsThatOfTheEvent) {
  kit::AuditEventEncoder encoder;
  AuditEvent first = event_of(AuditStage::kRequestReceived), second = first;
  auto request = std::make_shared<AuditRequest>(*first.request);
  request->user = UserInfo{"joe", "", {}, {}};
  second.request = request;
  for (int round = 0; round < 2; ++round) {
    std::string a, b;
    encoder.append(a, first);
    encoder.append(b, second);
    EXPECT_NE(a.find(R"("user":{"username":"jane")"), std::string::npos);
    EXPECT_NE(b.find(R"("user":{"username":"joe"})"), std::string::npos);
  }
  request->user = UserRef();
  std::string anonymous;
  encoder.append(anonymous, second);
  EXPECT_NE(anonymous.find(R"("user":{},)"), std::string::npos);
}

TEST(AuditEventJson, EventsOfARequestThatDifferAreNotWrittenAlike) {
  const AuditEvent received = event_of(AuditStage::kRequestReceived);
  AuditEvent complete = received;
  complete.stage = AuditStage::kResponseComplete;
  complete.response_code = 201;
  const auto with = [&](auto change) {
    AuditEvent event = complete;
    change(event);
    return event;
  };
  AuditEvent other = event_of(AuditStage::kResponseComplete);
  const AuditEvent events[] = {
      complete,
      with([](AuditEvent& event) { event.name = "made"; }),
      with([](AuditEvent& event) { event.uid = "u-2"; }),
      with([](AuditEvent& event) { event.resource_version = "7"; }),
      with([](AuditEvent& event) {
        event.impersonated_user = UserInfo{"joe", "", {}, {}};
      }),
      with([](AuditEvent& event) { event.impersonation_constraint = "impersonate:user-info"; }),
      other,
  };
  for (const AuditEvent& event : events) {
    kit::AuditEventEncoder encoder;
    std::string out;
    for (int i = 0; i < 2; ++i) {
      out.clear();
      encoder.append(out, received);
      EXPECT_EQ(out, json_of(received));
      out.clear();
      encoder.append(out, event);
      EXPECT_EQ(out, json_of(event));
    }
    out.clear();
    encoder.append(out, event);  // of a request whose last event has been written already
    EXPECT_EQ(out, json_of(event));
  }
}

TEST(AuditEventJson, TruncationDropsObjectsAndSaysSo) {
  AuditEvent event = event_of(AuditStage::kResponseComplete);
  event.request_object = event.response_object = SharedBytes::from_static(R"({"b":2})");
  for (const auto& [annotations, json] : std::initializer_list<std::pair<decltype(event.annotations), std::string_view>>{
           {{}, R"("annotations":{"audit.k8s.io/truncated":"true"})"},
           {{{"a", "1"}, {"z", "2"}}, R"("annotations":{"a":"1","audit.k8s.io/truncated":"true","z":"2"})"},
           {{{"a", "1"}}, R"("annotations":{"a":"1","audit.k8s.io/truncated":"true"})"},
           {{{"audit.k8s.io/truncated", "no"}}, R"("annotations":{"audit.k8s.io/truncated":"true"})"}}) {
    event.annotations = annotations;
    const std::string out = json_of(event, true);
    EXPECT_NE(out.find(json), std::string::npos) << out;
    EXPECT_EQ(out.find("Object\""), std::string::npos) << out;
  }
}

TEST(AuditEventJson, ItemsHaveNoTypeMeta) {
  const AuditEvent event = event_of(AuditStage::kRequestReceived);
  std::string item;
  kit::AuditEventEncoder().append_item(item, event);
  EXPECT_TRUE(item.starts_with(R"({"level":)"));
  EXPECT_EQ(item.size() + kit::AuditEventEncoder::size_over_item(), json_of(event).size() + 1);
}

TEST(AuditCompactJson, IsOneLineWithGosEscapes) {
  const auto compact = [](std::string_view text) {
    std::string out;
    kit::append_audit_json(out, text);
    return out;
  };
  EXPECT_EQ(compact("{\n \"a b\" : [ 1 ,\t2 ] }\n"), R"({"a b":[1,2]})");
  EXPECT_EQ(compact(R"({"a":"<\">& \\"})"), R"({"a":"\u003c\"\u003e\u0026 \\"})");
  EXPECT_EQ(compact("{\"a\":\"\xE2\x80\xA8\xE2\x82\xAC\"}"), "{\"a\":\"\\u2028\xE2\x82\xAC\"}");
  EXPECT_EQ(compact("not\njson").find('\n'), std::string::npos);
  EXPECT_EQ(compact("\"\\\n\"").find('\n'), std::string::npos);
  EXPECT_EQ(compact(""), "");
  EXPECT_EQ(compact("\"\\"), "\"\\");
}

TEST(AuditTime, IsInMicroseconds) {
  kit::AuditTimeEncoder encoder;
  const auto text = [&encoder](system_clock::time_point time) {
    std::string out;
    encoder.append(out, time);
    return out;
  };
  EXPECT_EQ(text(system_clock::time_point()), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(text(system_clock::time_point() + 1us), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(text(system_clock::time_point() - 1us), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(text(system_clock::from_time_t(951'782'400) + 999'999'999ns), "2000-02-29T00:00:00.999999Z");
  EXPECT_EQ(text(system_clock::from_time_t(4'107'542'399)), "2100-02-28T23:59:59.000000Z");
  EXPECT_EQ(text(system_clock::from_time_t(4'107'542'400)), "2100-03-01T00:00:00.000000Z");
}

TEST(AuditEventText, IsUpstreamsLegacyLine) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  AuditEvent event = event_of(AuditStage::kRequestReceived);
  std::string line;
  kit::append_audit_event_text(line, event);
  EXPECT_EQ(line, R"(2026-10-26T07:33:20.123456789Z AUDIT: id="id-1" stage="RequestReceived" ip="10.0.0.1" method="create" user="jane" )"
                  R"(groups="\"dev\",\"ops\"" as="<self>" asgroups="<lookup>" user-agent="kubectl" namespace="n" )"
                  R"(uri="/api/v1/namespaces/n/pods?a=<b>" response="<deferred>")");
  event.stage = AuditStage::kResponseComplete;
  event.response_code = 403;
  event.impersonated_user = UserInfo{"joe", "", {"g"}, {}};
  line.clear();
  kit::append_audit_event_text(line, event);
  EXPECT_NE(line.find(R"(as="joe" asgroups="\"g\"")"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(R"(response="403")")) << line;
}

}  // namespace
}  // namespace backplane::audit
