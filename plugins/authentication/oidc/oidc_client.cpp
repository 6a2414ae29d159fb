#include "oidc/oidc_client.hpp"

#include <algorithm>
#include <array>

#include "backplane/host.hpp"
#include "backplane/types/url.hpp"
#include "config/url_parts.hpp"

namespace backplane::authentication {
namespace {

constexpr std::size_t kMostServers = 64;
constexpr int kMostRedirects = 10;
constexpr std::chrono::seconds kTimeLimit{30};

struct CodeText {
  int code;
  std::string_view text;
};
constexpr std::array<CodeText, 12> kCodeTexts{{{200, "OK"},
                                               {204, "No Content"},
                                               {301, "Moved Permanently"},
                                               {302, "Found"},
                                               {400, "Bad Request"},
                                               {401, "Unauthorized"},
                                               {403, "Forbidden"},
                                               {404, "Not Found"},
                                               {429, "Too Many Requests"},
                                               {500, "Internal Server Error"},
                                               {502, "Bad Gateway"},
                                               {503, "Service Unavailable"}}};

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_redirect(int code) { return code == 301 || code == 302 || code == 303 || code == 307 || code == 308; }

Status failed_get(const std::string& url, const Status& why) {
  return Status(why.code(), why.reason(), "Get " + backplane::quoted(url) + ": " + why.message());
}

}  // namespace

std::string OidcReply::status_line() const {
  const auto found = std::find_if(kCodeTexts.begin(), kCodeTexts.end(), [&](const CodeText& each) { return each.code == code; });
  return std::to_string(code) + (found == kCodeTexts.end() ? "" : " " + std::string(found->text));
}

std::string_view OidcReply::header(std::string_view name) const noexcept {
  for (const Header& each : headers) {
    if (equal_without_case(each.first, name)) return each.second;
  }
  return {};
}

Result<std::shared_ptr<HttpClient>> OidcClient::client_for(const std::string& origin) {
  std::lock_guard lock(mutex_);
  const auto found = clients_.find(origin);
  if (found != clients_.end()) return found->second;
  if (clients_.size() >= kMostServers) return bad_request("too many servers of one OpenID issuer");
  ClientConfig config;
  config.server = origin;
  config.certificate_authority = certificate_authority_;
  config.dial = dial_;
  config.connect_timeout = kTimeLimit;
  config.call_timeout = kTimeLimit;
  auto made = host_.make_client(std::move(config));
  if (made.ok()) clients_.emplace(origin, *made);
  return made;
}

Task<Result<OidcReply>> OidcClient::get_once(const std::string& url, const std::string& bearer, Deadline deadline) {
  const UrlParts parts = url_parts(url);
  if (parts.scheme != "https" || parts.host.empty() || parts.has_user)
    co_return failed_get(url, bad_request("only https URLs without user are supported"));
  auto client = client_for(parts.origin());
  if (!client.ok()) co_return failed_get(url, client.status());
  HttpCall call;
  call.target = parts.target();
  call.deadline = deadline;
  if (!bearer.empty()) call.headers.emplace_back("Authorization", "Bearer " + bearer);
  auto calling = (*client)->call(std::move(call));
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return failed_get(url, answer.status());
  OidcReply reply;
  reply.code = (*answer)->code();
  reply.headers = (*answer)->headers();
  auto reading = read_all(**answer, kMostBytes);
  auto body = co_await std::move(reading);
  if (!body.ok()) co_return failed_get(url, body.status());
  reply.body = std::move(*body);
  co_return reply;
}

Task<Result<OidcReply>> OidcClient::get(std::string url, std::string bearer, Deadline deadline) {
  deadline = std::min<Deadline>(deadline, std::chrono::steady_clock::now() + kTimeLimit);
  for (int i = 0; i <= kMostRedirects; ++i) {
    if (const std::string problem = url_problem(url); !problem.empty()) co_return bad_request(problem);
    auto getting = get_once(url, bearer, deadline);
    auto reply = co_await std::move(getting);
    if (!reply.ok() || !is_redirect(reply->code)) co_return reply;
    const UrlParts from = url_parts(url);
    std::string next = resolved_url(from, reply->header("Location"));
    if (next.empty()) co_return reply;
    if (url_parts(next).host != from.host) bearer.clear();
    url = std::move(next);
  }
  co_return failed_get(url, bad_request("stopped after 10 redirects"));
}

}  // namespace backplane::authentication
