#include "filters/access_metrics.hpp"

#include <algorithm>

namespace backplane {
namespace {

// compressUsername: no name of a person is ever a label.
std::size_t user_index(std::string_view user) noexcept {
  constexpr auto& kUsers = AccessMetrics::kUsers;
  constexpr std::size_t kNamed = kUsers.size() - 2;
  const auto end = kUsers.begin() + kNamed;
  const auto found = std::find(kUsers.begin(), end, user);
  if (found != end) return static_cast<std::size_t>(found - kUsers.begin());
  return user.find('@') != std::string_view::npos ? kNamed : kNamed + 1;
}

// CleanScope
std::string_view scope_of(const RequestInfo& info) noexcept {
  if (!info.name.empty() || info.verb == "create") return "resource";
  if (!info.ns.empty()) return "namespace";
  return info.is_resource_request ? "cluster" : "";
}

// The method, but LIST, WATCH and CONNECT told from it.
std::string verb_of(const RequestInfo& info, std::string_view method) {
  constexpr std::array<std::string_view, 5> kConnects{"log", "exec", "portforward", "attach", "proxy"};
  constexpr std::array<std::string_view, 5> kMethods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  const bool connects = std::find(kConnects.begin(), kConnects.end(), info.subresource) != kConnects.end();
  if (info.is_resource_request && connects) return "CONNECT";
  if (info.verb == "watch") return "WATCH";
  if (method == "HEAD") method = "GET";
  const std::string_view scope = scope_of(info);
  if (method == "GET" && !scope.empty() && scope != "resource") return "LIST";
  return std::string(std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end() ? method : "other");
}

// Paths are the client's: there may be any number of them.
void add(AccessMetrics::Counts& counts, std::vector<std::string> labels) {
  constexpr std::size_t kMaxRows = 1000;
  const auto found = counts.find(labels);
  if (found != counts.end()) {
    ++found->second;
  } else if (counts.size() < kMaxRows) {
    counts.emplace(std::move(labels), 1);
  }
}

}  // namespace

void AccessMetrics::authenticated(Authentication result, std::chrono::nanoseconds took, std::string_view user) noexcept {
  authentications_[result].observe(took);
  filters_[0].observe(took);
  if (result == kSuccess) users_[user_index(user)].fetch_add(1, std::memory_order_relaxed);
}

void AccessMetrics::authorized(Authorization result, std::chrono::nanoseconds took) noexcept {
  authorizations_[result].observe(took);
  filters_[1].observe(took);
}

void AccessMetrics::aborted(const RequestInfo& info, std::string_view method) {
  std::vector<std::string> labels = {info.api_group,   info.resource,         std::string(scope_of(info)),
                                     info.subresource, verb_of(info, method), info.api_version};
  const std::lock_guard lock(mutex_);
  add(aborts_, std::move(labels));
}

void AccessMetrics::self_request(const RequestInfo& info, std::string_view method) {
  std::vector<std::string> labels = {info.api_group, info.resource, info.subresource, verb_of(info, method)};
  const std::lock_guard lock(mutex_);
  add(self_requests_, std::move(labels));
}

void AccessMetrics::reset() {
  for (auto& each : authentications_) each.reset();
  for (auto& each : authorizations_) each.reset();
  for (auto& each : filters_) each.reset();
  for (auto& each : users_) each.store(0, std::memory_order_relaxed);
  for (auto& each : late_) each.store(0, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  aborts_.clear();
  self_requests_.clear();
}

AccessMetrics::Counts AccessMetrics::aborts() const {
  const std::lock_guard lock(mutex_);
  return aborts_;
}

AccessMetrics::Counts AccessMetrics::self_requests() const {
  const std::lock_guard lock(mutex_);
  return self_requests_;
}

}  // namespace backplane
