#include "conversion_webhook.hpp"

#include <algorithm>
#include <iterator>

#include "backplane/core/metrics.hpp"
#include "definition.hpp"
#include "review_decoding.hpp"

namespace backplane::apiextensions {
namespace {

using Clock = std::chrono::steady_clock;

// The limits of one call: the number of objects, and their total size.
constexpr std::size_t kObjectsPerCall = 500;
constexpr std::size_t kBytesPerCall = std::size_t{8} << 20;

// The maximum length of an error message from a webhook.
constexpr std::size_t kMessageBytes = std::size_t{16} << 10;

Status refused(std::string message) {
  if (message.size() > kMessageBytes) message.resize(kMessageBytes);
  return Status(500, Reason::kNone, std::move(message));
}

void count(ReviewFault fault, Clock::time_point since) {
  static Metric& requests =
      Metric::counter("apiserver_conversion_webhook_request_total", "[ALPHA] Calls of conversion webhooks, by result and failure type.",
                      {"result", "failure_type"});
  static Metric& durations =
      Metric::histogram("apiserver_conversion_webhook_duration_seconds", "[ALPHA] Duration of calls of conversion webhooks in seconds.",
                        {"result", "failure_type"}, {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60});
  const std::string_view result = fault == ReviewFault::kNone ? "success" : "failure";
  requests.add({result, fault_name(fault)});
  durations.observe({result, fault_name(fault)}, std::chrono::duration<double>(Clock::now() - since).count());
}

void count_conversion(const WebhookConfig& config, const GroupVersionKind& from, const std::string& desired, bool succeeded,
                      Clock::time_point since) {
  static Metric& durations = Metric::histogram("apiserver_crd_conversion_webhook_duration_seconds",
                                               "[ALPHA] Duration of conversions by a definition's webhook in seconds.",
                                               {"crd_name", "from_version", "to_version", "succeeded"}, exponential_bounds(0.001, 2, 15));
  durations.observe({config.definition, from.version, GroupVersion::parse(desired).version, succeeded ? "true" : "false"},
                    std::chrono::duration<double>(Clock::now() - since).count());
}

// The number of objects for the next call, at least one.
std::size_t part_size(std::span<const Object> left) {
  std::size_t bytes = 0, size = 0;
  std::string text;
  for (const Object& object : left) {
    text.clear();
    append_json(text, object);
    bytes += text.size();
    if (size > 0 && (bytes > kBytesPerCall || size == kObjectsPerCall)) break;
    ++size;
  }
  return size;
}

WebhookOptions options_of(const WebhookConfig& config) {
  WebhookOptions options;
  options.connection.certificate_authority = config.authorities;
  return options;
}

}  // namespace

ConversionWebhook::ConversionWebhook(Host& host, std::shared_ptr<ServiceResolver> services, WebhookConfig config)
    : config_(std::move(config)), client_(host, std::move(services), config_.target, options_of(config_)) {}

Task<Result<WebhookAnswer>> ConversionWebhook::call(std::string body) {
  auto posting = client_.post(std::move(body));
  auto answer = co_await std::move(posting);
  if (!answer.ok()) co_return refused(answer.status().message());
  if (answer->code < 200 || answer->code > 206) co_return refused(error_answer_message(answer->code, answer->content_type, answer->body));
  if (answer->content_type.empty()) answer->content_type = "application/json";  // as requested
  co_return std::move(*answer);
}

Task<ReviewAnswer> ConversionWebhook::convert_part(std::shared_ptr<const ReviewQuestion> question, std::span<const Object> part) {
  const Clock::time_point began = Clock::now();
  std::string body = ask(*question, part);
  auto calling = call(std::move(body));
  auto got = co_await std::move(calling);
  ReviewAnswer answer;
  if (got.ok()) {
    answer = read_answer(*question, part, *got);
  } else {
    answer.fault = ReviewFault::kCall;
    answer.problem = "conversion webhook for " + question->from_kind + " failed: " + got.status().message();
  }
  count(answer.fault, began);
  co_return answer;
}

Task<Result<std::vector<Object>>> ConversionWebhook::convert(GroupVersionKind from, std::string desired, std::vector<Object> objects) {
  const auto self = shared_from_this();
  const std::string review = choose_review(config_.review_versions);
  if (review.empty()) co_return refused("no supported conversion review versions");
  const Clock::time_point began = Clock::now();
  std::vector<Object> converted;
  converted.reserve(objects.size());
  Status problem;
  while (problem.ok() && converted.size() < objects.size()) {
    const std::span<const Object> left = std::span<const Object>(objects).subspan(converted.size());
    auto question = std::make_shared<ReviewQuestion>();
    question->version = review;
    question->uid = new_uid();
    question->from_kind = kind_text(from);
    question->desired = desired;
    auto asking = convert_part(std::move(question), left.first(part_size(left)));
    ReviewAnswer answer = co_await std::move(asking);
    if (answer.fault != ReviewFault::kNone) problem = refused(std::move(answer.problem));
    std::move(answer.objects.begin(), answer.objects.end(), std::back_inserter(converted));
  }
  count_conversion(config_, from, desired, problem.ok(), began);
  if (!problem.ok()) co_return problem;
  co_return converted;
}

}  // namespace backplane::apiextensions
