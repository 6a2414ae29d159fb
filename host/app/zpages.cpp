#include "app/zpages.hpp"

#include <array>
#include <chrono>
#include <ctime>

#include "backplane/core/request.hpp"
#include "backplane/rest/warnings.hpp"
#include "backplane/types/schema.hpp"
#include "endpoints/metered_exchange.hpp"
#include "endpoints/resource_handler.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

constexpr std::string_view kComponent = "apiserver";
constexpr std::string_view kGroup = "config.k8s.io";
constexpr std::string_view kVersion = "v1beta1";
constexpr std::string_view kOldVersion = "v1alpha1";
constexpr std::string_view kNotForMachines =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes "
    "only.\n";

struct Form {
  enum Kind : unsigned char { kText, kJson, kYaml, kNone } kind = kNone;
  std::string_view version = {};
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Removes and returns the text before `separator`, which is removed too.
std::string_view take(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(head);
}

// The response format that one clause of an Accept header names. Qualities are ignored: the first supported clause is used.
Form form_of(std::string_view clause, std::string_view kind) {
  const std::string_view type = take(clause, ';');
  if (type == "text/plain" || type == "text/*" || type == "*/*") return {Form::kText};
  if (type != "application/json" && type != "application/yaml") return {};
  std::string_view as;
  std::string_view group;
  std::string_view version;
  while (!clause.empty()) {
    std::string_view value = take(clause, ';');
    const std::string_view name = take(value, '=');
    if (name == "as") as = value;
    if (name == "g") group = value;
    if (name == "v") version = value;
  }
  if (as != kind || group != kGroup || (version != kVersion && version != kOldVersion)) return {};
  return {type == "application/json" ? Form::kJson : Form::kYaml, version};
}

Form wanted_form(std::string_view accept, std::string_view kind) {
  if (accept.empty()) return {Form::kText};
  while (!accept.empty()) {
    const Form form = form_of(take(accept, ','), kind);
    if (form.kind != Form::kNone) return form;
  }
  return {};
}

// One of the pages: its text, and its members in addition to kind, apiVersion and metadata.
class ZPage : public HttpHandler {
 public:
  explicit ZPage(std::string kind) : kind_(std::move(kind)) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) final {
    std::string counted(kind_);
    counted.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(counted.front())));
    count_document(context, exchange, "", "apiserver", counted);
    const Form form = wanted_form(exchange.header("accept"), kind_);
    if (form.kind == Form::kNone) {
      co_await write_status(context, exchange, not_acceptable());
      co_return;
    }
    if (form.version == kOldVersion) {
      context.warn(std::string(kGroup) + "/" + std::string(kOldVersion) + " " + kind_ + " is deprecated, use " + std::string(kVersion));
    }
    for (const auto& warning : context.warnings()) exchange.add_response_header("Warning", "299 - " + backplane::quoted(warning));
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    std::string type = "text/plain; charset=utf-8";
    std::vector<SharedBytes> body;
    if (form.kind == Form::kText) {
      body.emplace_back(text());
    } else {
      const Value value = object(form.version);
      const bool json = form.kind == Form::kJson;
      type = json ? "application/json" : "application/yaml";
      type.append(";g=").append(kGroup).append(";v=").append(form.version).append(";as=").append(kind_);
      body.emplace_back(json ? to_json(value.as_object()) + "\n" : to_yaml(value));
    }
    co_await exchange.respond(200, type, std::move(body));
  }

 protected:
  virtual std::string lines() const = 0;
  virtual void add_members(Object& object) const = 0;

 private:
  std::string text() const {
    std::string lower = kind_;
    lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
    return "\n" + std::string(kComponent) + " " + lower + "\n" + std::string(kNotForMachines) + "\n" + lines();
  }
  Value object(std::string_view version) const {
    Object metadata;
    metadata["name"] = std::string(kComponent);
    Object out;
    out["kind"] = kind_;
    out["apiVersion"] = std::string(kGroup) + "/" + std::string(version);
    out["metadata"] = std::move(metadata);
    add_members(out);
    return out;
  }
  static Status not_acceptable() {
    return Status(Reason::kNotAcceptable, "only the following media types are accepted: application/json, application/yaml, text/plain");
  }

  std::string kind_;
};

std::string formatted(std::time_t time, const char* format) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> buffer{};
  return {buffer.data(), std::strftime(buffer.data(), buffer.size(), format, &parts)};
}

class Statusz final : public ZPage {
 public:
  Statusz(ReportedVersion version, std::function<std::vector<std::string>()> paths)
      : ZPage("Statusz"), version_(std::move(version)), paths_(std::move(paths)) {}

 private:
  std::int64_t up_seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - since_).count();
  }
  std::string binary_version() const { return version_.git.substr(1); }

  std::string lines() const override {
    const std::int64_t up = up_seconds();
    std::array<char, 64> uptime{};
    std::snprintf(uptime.data(), uptime.size(), "%lld hr %02lld min %02lld sec", static_cast<long long>(up / 3600),
                  static_cast<long long>(up / 60 % 60), static_cast<long long>(up % 60));
    std::string paths;
    for (const auto& path : paths_()) paths += " " + path;
    return "Started: " + formatted(started_, "%a %b %e %H:%M:%S UTC %Y") + "\nUp: " + uptime.data() +
           "\nGo version: " + std::string(kGoVersion) + "\nBinary version: " + binary_version() +
           "\nEmulation version: " + version_.effective.emulation.to_string() + "\nPaths:" + paths + "\n";
  }
  void add_members(Object& object) const override {
    object["startTime"] = formatted(started_, "%Y-%m-%dT%H:%M:%SZ");
    object["uptimeSeconds"] = up_seconds();
    object["goVersion"] = std::string(kGoVersion);
    object["binaryVersion"] = binary_version();
    object["emulationVersion"] = version_.effective.emulation.to_string();
    Array paths;
    for (const auto& path : paths_()) paths.emplace_back(path);
    object["paths"] = std::move(paths);
  }

  const ReportedVersion version_;
  std::function<std::vector<std::string>()> paths_;
  std::time_t started_ = std::time(nullptr);
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

class Flagz final : public ZPage {
 public:
  explicit Flagz(std::map<std::string, std::string> flags) : ZPage("Flagz"), flags_(std::move(flags)) {}

 private:
  std::string lines() const override {
    std::string out;
    for (const auto& [name, value] : flags_) out += name + "=" + value + "\n";
    return out;
  }
  void add_members(Object& object) const override {
    Object flags;
    for (const auto& [name, value] : flags_) flags[name] = value;
    object["flags"] = std::move(flags);
  }

  std::map<std::string, std::string> flags_;
};

}  // namespace

std::shared_ptr<HttpHandler> make_statusz_handler(ReportedVersion version, std::function<std::vector<std::string>()> paths) {
  return std::make_shared<Statusz>(std::move(version), std::move(paths));
}
std::shared_ptr<HttpHandler> make_flagz_handler(std::map<std::string, std::string> flags) {
  return std::make_shared<Flagz>(std::move(flags));
}

}  // namespace backplane
