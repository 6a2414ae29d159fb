#include "streams/remote_status.hpp"

#include <boost/algorithm/string/trim.hpp>
#include <charconv>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/json_reading.hpp"

namespace backplane::core {
namespace {

std::optional<Object> read_object(std::string_view text) {
  auto value = read_json(text);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

std::string success() { return R"({"metadata":{},"status":"Success"})"; }

std::string exited(int code) {
  Object cause{{"reason", "ExitCode"}, {"message", std::to_string(code)}};
  Object out;
  out["metadata"].emplace_object();
  out["status"] = "Failure";
  out["message"] = "command terminated with non-zero exit code: command terminated with exit code " + std::to_string(code);
  out["reason"] = "NonZeroExitCode";
  out["details"] = Object{{"causes", Array{std::move(cause)}}};
  return to_json(out);
}

std::string exit_status(const Object& status) {
  const Object* details = get_object(status, "details");
  if (details == nullptr) return failed_status("error stream protocol error: details must be set");
  const Array* causes = get_array(*details, "causes");
  for (const Value& each : causes != nullptr ? *causes : Array()) {
    if (!each.is_object() || get_string(each.get_object(), "reason") != "ExitCode") continue;
    const std::string_view text = get_string(each.get_object(), "message");
    unsigned code = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
    if (error != std::errc() || end != text.data() + text.size() || code > 255) {
      return failed_status("error stream protocol error: invalid exit code value " + quoted(text));
    }
    return exited(static_cast<int>(code));
  }
  return failed_status("error stream protocol error: no ExitCode cause given");
}

std::string status_of_json(std::string_view text) {
  const auto status = read_object(text);
  if (!status) return failed_status("error stream protocol error: no JSON object in " + quoted(text));
  const std::string_view outcome = get_string(*status, "status");
  if (outcome == "Success") return success();
  if (outcome != "Failure") return failed_status("error stream protocol error: unknown error");
  if (get_string(*status, "reason") == "NonZeroExitCode") return exit_status(*status);
  return failed_status(get_string(*status, "message"));
}

}  // namespace

std::string final_status(std::string_view protocol, std::string_view text) {
  if (text.empty()) return success();
  if (protocol == "v4.channel.k8s.io" || protocol == "v5.channel.k8s.io") return status_of_json(text);
  return failed_status("error executing remote command: " + std::string(text));
}

std::string failed_status(std::string_view why) {
  std::string out = internal_error(why).to_json();
  // Removes kind and apiVersion, which a Status on the error stream does not have.
  const auto status = read_object(out);
  Object plain;
  for (const auto& member : *status) {
    if (member.key() != "kind" && member.key() != "apiVersion") plain[member.key()] = member.value();
  }
  return to_json(plain);
}

std::string refusal_text(std::string_view body) {
  if (const auto status = read_object(body)) {
    for (const char* member : {"message", "error"}) {
      std::string text = boost::algorithm::trim_copy(std::string(get_string(*status, member)));
      if (!text.empty()) return text;
    }
  }
  std::string text = boost::algorithm::trim_copy(std::string(body));
  return text.empty() ? "empty server response" : text;
}

}  // namespace backplane::core
