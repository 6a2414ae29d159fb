#include "settings.hpp"

#include <algorithm>
#include <cstdlib>

#include "backplane/core/json.hpp"
#include "backplane/types/durations.hpp"

namespace backplane::audit {
namespace {

class Reader {
 public:
  Reader(const FlagText& flag, std::string_view backend) : flag_(flag), prefix_("audit-" + std::string(backend) + "-") {}

  std::string text(std::string_view name) const { return flag_(prefix_ + std::string(name)).value_or(""); }
  bool boolean(std::string_view name) const { return text(name) == "true"; }
  long long number(std::string_view name) const { return std::strtoll(text(name).c_str(), nullptr, 10); }
  double real(std::string_view name) const { return std::strtod(text(name).c_str(), nullptr); }
  std::chrono::nanoseconds duration(std::string_view name) const { return parse_duration(text(name)).value_or(std::chrono::nanoseconds()); }

 private:
  const FlagText& flag_;
  const std::string prefix_;
};

using Problems = std::vector<std::string>;

std::optional<Mode> mode_of(std::string_view name) {
  if (name == "batch") return Mode::kBatch;
  if (name == "blocking") return Mode::kBlocking;
  if (name == "blocking-strict") return Mode::kBlockingStrict;
  return std::nullopt;
}

// Formats a float32 like Go.
std::string go_float(double value) { return to_json(Value(value)); }

// Upstream reports the first problem of a backend's batches.
std::string batch_problem(const Reader& flags, const std::string& backend, BatchSettings& batch) {
  const std::string mode = flags.text("mode");
  const auto known = mode_of(mode);
  if (!known) return "invalid audit " + backend + " mode " + mode + ", allowed modes are \"batch,blocking,blocking-strict\"";
  batch.mode = *known;
  if (batch.mode != Mode::kBatch) return {};
  const auto bad = [&](std::string_view what, const std::string& value) {
    return "invalid audit batch " + backend + " " + std::string(what) + " " + value + ", must be a positive number";
  };
  const long long buffer = flags.number("batch-buffer-size"), events = flags.number("batch-max-size");
  if (buffer <= 0) return bad("buffer size", std::to_string(buffer));
  if (events <= 0) return bad("max batch size", std::to_string(events));
  batch.buffer_size = static_cast<std::size_t>(buffer);
  batch.max_events = static_cast<std::size_t>(events);
  batch.max_wait = flags.duration("batch-max-wait");
  batch.throttle = flags.boolean("batch-throttle-enable");
  batch.qps = flags.real("batch-throttle-qps");
  batch.burst = static_cast<int>(flags.number("batch-throttle-burst"));
  if (batch.throttle && batch.qps <= 0) return bad("throttle QPS", go_float(batch.qps));
  if (batch.throttle && batch.burst <= 0) return bad("throttle burst", std::to_string(batch.burst));
  return {};
}

std::string truncate_problem(const Reader& flags, const std::string& backend, TruncateSettings& truncate) {
  const long long event = flags.number("truncate-max-event-size"), batch = flags.number("truncate-max-batch-size");
  truncate.enabled = flags.boolean("truncate-enabled");
  if (event <= 0) return "invalid audit truncate " + backend + " max event size " + std::to_string(event) + ", must be a positive number";
  truncate.max_event_bytes = static_cast<std::size_t>(event);
  if (batch >= event) return {};
  return "invalid audit truncate " + backend + " max batch size " + std::to_string(batch) + ", must be greater than max event size (" +
         std::to_string(event) + ")";
}

std::string version_problem(const std::string& version) {
  if (std::count(version.begin(), version.end(), '/') > 1) return "unexpected GroupVersion string: " + version;
  return version == "audit.k8s.io/v1" ? "" : "invalid group version, allowed versions are [\"audit.k8s.io/v1\"]";
}

void add(Problems& problems, std::string problem) {
  if (!problem.empty()) problems.push_back(std::move(problem));
}

LogSettings read_log(const Reader& flags, Problems& problems) {
  LogSettings log;
  add(problems, batch_problem(flags, "log", log.batch));
  add(problems, truncate_problem(flags, "log", log.truncate));
  add(problems, version_problem(flags.text("version")));
  const std::string format = flags.text("format");
  log.legacy = format == "legacy";
  if (!log.legacy && format != "json") {
    add(problems, "invalid audit log format " + format + ", allowed formats are \"legacy,json\"");
  }
  for (const char* name : {"maxage", "maxbackup", "maxsize"}) {
    if (const auto number = flags.number(name); number < 0) {
      add(problems, "--audit-log-" + std::string(name) + " " + std::to_string(number) + " can't be a negative number");
    }
  }
  log.file.path = flags.text("path");
  log.file.max_bytes = static_cast<std::uint64_t>(std::max(flags.number("maxsize"), 0LL)) << 20;
  log.file.max_age_days = static_cast<int>(flags.number("maxage"));
  log.file.max_backups = static_cast<int>(flags.number("maxbackup"));
  log.file.compress = flags.boolean("compress");
  return log;
}

WebhookSettings read_webhook(const Reader& flags, Problems& problems) {
  WebhookSettings webhook;
  add(problems, batch_problem(flags, "webhook", webhook.batch));
  add(problems, truncate_problem(flags, "webhook", webhook.truncate));
  add(problems, version_problem(flags.text("version")));
  webhook.kubeconfig = flags.text("config-file");
  // initial-backoff and batch-initial-backoff set the same value.
  const bool former = flags.text("initial-backoff") == "10s";
  webhook.first_pause = flags.duration(former ? "batch-initial-backoff" : "initial-backoff");
  return webhook;
}

}  // namespace

Result<Settings> read_settings(const FlagText& flag) {
  Settings settings;
  settings.policy_file = flag("audit-policy-file").value_or("");
  const Reader log(flag, "log"), webhook(flag, "webhook");
  Problems problems;
  if (!log.text("path").empty()) settings.log = read_log(log, problems);
  if (!webhook.text("config-file").empty()) settings.webhook = read_webhook(webhook, problems);
  if (problems.empty()) return settings;
  std::string all;
  for (const std::string& problem : problems) all.append(all.empty() ? "" : ", ").append(problem);
  return bad_request(problems.size() == 1 ? all : "[" + all + "]");
}

}  // namespace backplane::audit
