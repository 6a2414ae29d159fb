#include "backplane/kit/audit_event_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "backplane/core/json.hpp"

namespace backplane::kit {
namespace {

constexpr std::string_view kTypeMeta = R"("kind":"Event","apiVersion":"audit.k8s.io/v1",)";
constexpr std::string_view kTruncated = "audit.k8s.io/truncated";

// Appends `lead`, the text before the value such as `,"name":`, and `text` as a JSON string.
void put(std::string& out, std::string_view lead, std::string_view text) {
  out.append(lead);
  append_json_string(out, text);
}
void put_if(std::string& out, std::string_view lead, std::string_view text) {
  if (!text.empty()) put(out, lead, text);
}
// Removes the comma before the first member of the object that begins at `begin`, and ends the object.
void close_object(std::string& out, std::size_t begin) {
  if (out.size() > begin && out[begin] == ',') out.erase(begin, 1);
  out.push_back('}');
}

void put_number(std::string& out, std::string_view lead, long long number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(lead).append(digits, end);
}

void append_strings(std::string& out, const std::vector<std::string>& texts) {
  out.push_back('[');
  for (const std::string& text : texts) {
    if (out.back() != '[') out.push_back(',');
    append_json_string(out, text);
  }
  out.push_back(']');
}

void append_object_ref(std::string& out, const AuditEvent& event) {
  const AuditRequest& request = *event.request;
  out.append(R"(,"objectRef":{)");
  const std::size_t begin = out.size();
  put_if(out, R"(,"resource":)", request.resource);
  put_if(out, R"(,"namespace":)", request.ns);
  put_if(out, R"(,"name":)", event.name);
  put_if(out, R"(,"uid":)", event.uid);
  put_if(out, R"(,"apiGroup":)", request.api_group);
  put_if(out, R"(,"apiVersion":)", request.api_version);
  put_if(out, R"(,"resourceVersion":)", event.resource_version);
  put_if(out, R"(,"subresource":)", request.subresource);
  close_object(out, begin);
}

void append_details(std::string& out, const StatusDetails& details) {
  out.append(R"(,"details":{)");
  const std::size_t begin = out.size();
  put_if(out, R"(,"name":)", details.name);
  put_if(out, R"(,"group":)", details.group);
  put_if(out, R"(,"kind":)", details.kind);
  put_if(out, R"(,"uid":)", details.uid);
  if (!details.causes.empty()) {
    out.append(R"(,"causes":[)");
    for (const StatusCause& cause : details.causes) {
      out.append(out.back() == '[' ? "{" : ",{");
      const std::size_t member = out.size();
      put_if(out, R"(,"reason":)", cause.reason);
      put_if(out, R"(,"message":)", cause.message);
      put_if(out, R"(,"field":)", cause.field);
      close_object(out, member);
    }
    out.push_back(']');
  }
  if (details.retry_after_seconds != 0) put_number(out, R"(,"retryAfterSeconds":)", details.retry_after_seconds);
  close_object(out, begin);
}

void append_response_status(std::string& out, const AuditEvent& event) {
  out.append(R"(,"responseStatus":{"metadata":{})");
  const Status& status = event.response_status;
  int code = event.response_code;
  if (!status.ok()) {
    out.append(R"(,"status":"Failure")");
    put_if(out, R"(,"message":)", status.message());
    put_if(out, R"(,"reason":)", reason_name(status.reason()));
    if (status.details() != nullptr) append_details(out, *status.details());
    if (code == 0) code = status.code();
  } else if (event.success_details) {
    out.append(R"(,"status":"Success")");
    append_details(out, *event.success_details);
  } else if (code == 0) {
    // No response has begun, and the connection is closed.
    out.append(R"(,"status":"Success","message":"Connection closed early")");
    code = 200;
  }
  put_number(out, R"(,"code":)", code);
  out.push_back('}');
}

void append_annotations(std::string& out, const AuditEvent& event, bool truncated) {
  if (event.annotations.empty() && !truncated) return;
  out.append(R"(,"annotations":{)");
  const std::size_t begin = out.size();
  const auto put_pair = [&](std::string_view key, std::string_view value) {
    out.push_back(',');
    append_json_string(out, key);
    out.push_back(':');
    append_json_string(out, value);
  };
  for (const auto& [key, value] : event.annotations) {
    if (truncated && key >= kTruncated) {
      put_pair(kTruncated, "true");
      truncated = false;
      if (key == kTruncated) continue;
    }
    put_pair(key, value);
  }
  if (truncated) put_pair(kTruncated, "true");
  close_object(out, begin);
}

// Bytes that append_audit_json() must handle: white space, control characters, characters that HTML uses, quotes, backslashes, and the
// first byte of U+2028 and U+2029.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (int byte = 0; byte <= 0x20; ++byte) special[static_cast<std::size_t>(byte)] = true;
  for (const unsigned char byte : {'<', '>', '&', '"', '\\'}) special[byte] = true;
  special[0xE2] = true;
  return special;
}();

void append_escape(std::string& out, unsigned code) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kDigits[code >> shift & 15U]);
}

// The date of a day since 1970 in the proleptic Gregorian calendar.
struct Day {
  long long year;
  unsigned month, day;
};
Day day_of(long long days) noexcept {
  days += 719'468;
  const long long era = (days >= 0 ? days : days - 146'096) / 146'097;
  const auto of_era = static_cast<unsigned>(days - era * 146'097);
  const unsigned year = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
  const unsigned shifted = (5 * of_year + 2) / 153;
  const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {static_cast<long long>(year) + era * 400 + (month <= 2 ? 1 : 0), month, of_year - (153 * shifted + 2) / 5 + 1};
}

void append_padded(std::string& out, unsigned long long number, int width) {
  char digits[20];
  for (int i = width - 1; i >= 0; --i, number /= 10) digits[i] = static_cast<char>('0' + number % 10);
  out.append(digits, static_cast<std::size_t>(width));
}

// Returns "2006-01-02T15:04:05.".
std::string second_text(long long seconds) {
  const long long days = seconds >= 0 ? seconds / 86'400 : (seconds - 86'399) / 86'400;
  const auto of_day = static_cast<unsigned long long>(seconds - days * 86'400);
  const Day day = day_of(days);
  struct Part {
    unsigned long long number;
    int width;
    char end;
  };
  const Part parts[] = {{static_cast<unsigned long long>(day.year), 4, '-'},
                        {day.month, 2, '-'},
                        {day.day, 2, 'T'},
                        {of_day / 3600, 2, ':'},
                        {of_day / 60 % 60, 2, ':'},
                        {of_day % 60, 2, '.'}};
  std::string out;
  for (const Part& part : parts) {
    append_padded(out, part.number, part.width);
    out.push_back(part.end);
  }
  return out;
}

}  // namespace

void AuditTimeEncoder::append(std::string& out, std::chrono::system_clock::time_point time) {
  const long long micros = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
  const long long seconds = micros >= 0 ? micros / 1'000'000 : (micros - 999'999) / 1'000'000;
  if (text_.empty() || seconds != seconds_) {
    text_ = second_text(seconds);
    seconds_ = seconds;
  }
  out.append(text_);
  append_padded(out, static_cast<unsigned long long>(micros - seconds * 1'000'000), 6);
  out.push_back('Z');
}

void append_audit_json(std::string& out, std::string_view json) {
  bool in_string = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    if (!kSpecial[byte]) continue;
    if (byte == '"') {
      in_string = !in_string;
      continue;
    }
    if (byte == '\\') {
      // Skips an escaped quote or backslash, so that it does not end the string.
      if (in_string && i + 1 < json.size() && (json[i + 1] == '"' || json[i + 1] == '\\')) ++i;
      continue;
    }
    if (byte == ' ' && in_string) continue;
    unsigned code = byte;
    std::size_t length = 1;
    if (byte == 0xE2) {
      const std::string_view rest = json.substr(i, 3);
      if (rest != "\xE2\x80\xA8" && rest != "\xE2\x80\xA9") continue;
      code = rest[2] == '\xA8' ? 0x2028 : 0x2029;
      length = 3;
    }
    out.append(json, begin, i - begin);
    if (in_string) append_escape(out, code);
    i += length - 1;
    begin = i + 1;
  }
  out.append(json, begin);
}

void AuditEventEncoder::append_user(std::string& out, const UserRef& user) {
  if (user_json_.empty() || &*user != &*user_) {
    user_ = user;
    user_json_ = "{";
    put_if(user_json_, R"(,"username":)", user->name);
    put_if(user_json_, R"(,"uid":)", user->uid);
    if (!user->groups.empty()) append_strings(user_json_.append(R"(,"groups":)"), user->groups);
    if (!user->extra.empty()) {
      std::map<std::string_view, const std::vector<std::string>*> extra;
      for (const auto& [key, values] : user->extra) extra[key] = &values;
      user_json_.append(R"(,"extra":{)");
      const std::size_t begin = user_json_.size();
      for (const auto& [key, values] : extra) {
        put(user_json_, ",", key);
        append_strings(user_json_.append(":"), *values);
      }
      close_object(user_json_, begin);
    }
    close_object(user_json_, 1);
  }
  out.append(user_json_);
}

bool AuditEventEncoder::Common::is_of(const AuditEvent& event) const noexcept {
  const bool same_user = impersonated_user ? event.impersonated_user && &**impersonated_user == &**event.impersonated_user
                                           : !event.impersonated_user.has_value();
  return request == event.request && same_user && impersonation_constraint == event.impersonation_constraint && name == event.name &&
         uid == event.uid && resource_version == event.resource_version;
}

void AuditEventEncoder::append_common_members(std::string& out, const AuditEvent& event) {
  const AuditRequest& request = *event.request;
  put(out, R"(,"requestURI":)", request.request_uri);
  put(out, R"(,"verb":)", request.verb);
  append_user(out.append(R"(,"user":)"), request.user);
  if (event.impersonated_user) {
    append_user(out.append(R"(,"impersonatedUser":)"), *event.impersonated_user);
  }
  if (!event.impersonation_constraint.empty()) {
    put(out, R"(,"authenticationMetadata":{"impersonationConstraint":)", event.impersonation_constraint);
    out.push_back('}');
  }
  if (!request.source_ips.empty()) append_strings(out.append(R"(,"sourceIPs":)"), request.source_ips);
  put_if(out, R"(,"userAgent":)", request.user_agent);
  if (request.resource_request) append_object_ref(out, event);
}

void AuditEventEncoder::append_common(std::string& out, const AuditEvent& event) {
  if (event.stage == AuditStage::kRequestReceived) {
    const std::size_t begin = out.size();
    append_common_members(out, event);
    common_.json.assign(out, begin);
    common_.request = event.request;
    common_.impersonated_user = event.impersonated_user;
    common_.impersonation_constraint = event.impersonation_constraint;
    common_.name = event.name;
    common_.uid = event.uid;
    common_.resource_version = event.resource_version;
    return;
  }
  if (common_.is_of(event)) {
    out.append(common_.json);
  } else {
    append_common_members(out, event);
  }
  if (common_.request == event.request && event.stage != AuditStage::kResponseStarted) common_.request = nullptr;
}

void AuditEventEncoder::append_members(std::string& out, const AuditEvent& event, bool truncated) {
  out.append(R"("level":")").append(audit_level_name(event.level));
  put(out, R"(","auditID":)", event.request->audit_id);
  out.append(R"(,"stage":")").append(audit_stage_name(event.stage)).push_back('"');
  append_common(out, event);
  if (event.stage != AuditStage::kRequestReceived) append_response_status(out, event);
  if (!truncated) {
    if (!event.request_object.empty()) append_audit_json(out.append(R"(,"requestObject":)"), event.request_object.view());
    if (!event.response_object.empty()) append_audit_json(out.append(R"(,"responseObject":)"), event.response_object.view());
  }
  time_.append(out.append(R"(,"requestReceivedTimestamp":")"), event.request->received);
  time_.append(out.append(R"(","stageTimestamp":")"), event.stage_reached);
  out.push_back('"');
  append_annotations(out, event, truncated);
  out.push_back('}');
}

void AuditEventEncoder::append(std::string& out, const AuditEvent& event, bool truncated) {
  out.append("{").append(kTypeMeta);
  append_members(out, event, truncated);
}

void AuditEventEncoder::append_item(std::string& out, const AuditEvent& event, bool truncated) {
  out.push_back('{');
  append_members(out, event, truncated);
}

std::size_t AuditEventEncoder::size_over_item() noexcept { return kTypeMeta.size() + 1; }

}  // namespace backplane::kit
