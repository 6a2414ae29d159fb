#include "tokens/token_union.hpp"

#include <algorithm>

#include "backplane/core/request.hpp"
#include "tokens/bearer.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kExtraSpace = "the provided Authorization header contains extra space before the bearer token, and is ignored";

// Joins the messages of several errors, without repetitions, like upstream's aggregates.
Status union_error(const std::vector<Status>& failures) {
  std::vector<std::string_view> texts;
  std::string joined;
  for (const Status& failure : failures) {
    if (std::find(texts.begin(), texts.end(), failure.message()) != texts.end()) continue;
    joined.append(texts.empty() ? "" : ", ").append(failure.message());
    texts.push_back(failure.message());
  }
  return texts.size() == 1 ? failures.front() : unauthorized("[" + joined + "]");
}

// Adds the record's notes to the request if the token was accepted, and returns the result.
AuthenticationResult noted(RequestContext& context, const TokenRecord& record) {
  if (!record.result.ok() || !record.result->has_value()) return record.result;
  for (const auto& [key, value] : record.notes.annotations) context.annotate(key, value);
  for (const std::string& warning : record.notes.warnings) context.warn(warning);
  return record.result;
}

}  // namespace

std::vector<std::string> intersection(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(out),
               [&](const std::string& each) { return std::find(have.begin(), have.end(), each) != have.end(); });
  return out;
}

TokenUnion::TokenUnion(std::vector<Entry> entries, std::vector<std::string> api_audiences, TokenCache::Options options)
    : sources_(std::make_shared<Sources>(Sources{std::move(entries), std::move(api_audiences)})),
      cache_([sources = sources_](std::string token,
                                  std::vector<std::string> audiences) { return sources->look_up(std::move(token), std::move(audiences)); },
             std::move(options)) {}

Task<AuthenticationResult> TokenUnion::Sources::ask(const Entry& entry, std::string token, std::vector<std::string> audiences,
                                                    TokenNotes& notes) {
  std::vector<std::string> common;
  if (entry.audience_agnostic) {
    common = intersection(api_audiences, audiences);
    if (common.empty()) co_return std::optional<AuthenticationResponse>();
  }
  auto asking = entry.source->authenticate(std::move(token), std::move(audiences), notes);
  AuthenticationResult found = co_await std::move(asking);
  if (entry.audience_agnostic && found.ok() && found->has_value()) (*found)->audiences = std::move(common);
  co_return found;
}

Task<TokenRecord> TokenUnion::Sources::look_up(std::string token, std::vector<std::string> audiences) {
  std::vector<Status> failures;
  for (const Entry& entry : entries) {
    TokenRecord record;
    auto asking = ask(entry, token, audiences, record.notes);
    record.result = co_await std::move(asking);
    if (record.result.ok() && record.result->has_value()) co_return record;
    if (!record.result.ok()) failures.push_back(std::move(record.result.status()));
  }
  TokenRecord out;
  if (!failures.empty()) out.result = union_error(failures);
  co_return out;
}

std::optional<AuthenticationResult> TokenUnion::authenticate_now(RequestContext& context, const Exchange& exchange) {
  const HeaderToken header = header_token(exchange);
  if (header.extra_space) context.warn(kExtraSpace);
  if (!header.token.empty()) {
    const TokenRecordRef record = cache_.find(header.token, sources_->api_audiences);
    return record ? std::optional<AuthenticationResult>(noted(context, *record)) : std::nullopt;
  }
  auto token = websocket_token(exchange);
  if (!token.ok()) return AuthenticationResult(std::move(token).status());
  return token->empty() ? std::optional<AuthenticationResult>(std::in_place, std::nullopt) : std::nullopt;
}

Task<AuthenticationResult> TokenUnion::of_request(RequestContext& context, std::string token) {
  const TokenRecordRef record = co_await cache_.get(std::move(token), sources_->api_audiences);
  if (record->result.ok() && !record->result->has_value()) co_return unauthorized("invalid bearer token");
  co_return noted(context, *record);
}

Task<AuthenticationResult> TokenUnion::authenticate(RequestContext& context, Exchange& exchange) {
  std::vector<Status> failures;
  std::string tokens[2] = {header_token(exchange).token, {}};
  auto protocol = websocket_token(exchange);
  if (protocol.ok()) tokens[1] = std::move(*protocol);
  for (std::string& token : tokens) {
    if (token.empty()) continue;
    AuthenticationResult found = co_await of_request(context, std::move(token));
    if (found.ok()) co_return found;
    failures.push_back(std::move(found.status()));
  }
  if (!protocol.ok()) failures.push_back(std::move(protocol.status()));
  if (!failures.empty()) co_return union_error(failures);
  co_return std::optional<AuthenticationResponse>();
}

Task<AuthenticationResult> TokenUnion::authenticate_token(std::string token, std::vector<std::string> audiences) {
  if (audiences.empty()) audiences = sources_->api_audiences;
  const TokenRecordRef record = co_await cache_.get(std::move(token), std::move(audiences));
  co_return record->result;
}

std::optional<AuthenticationResult> TokenUnion::authenticate_token_now(std::string_view token, const std::vector<std::string>& audiences) {
  const TokenRecordRef record = cache_.find(token, audiences.empty() ? sources_->api_audiences : audiences);
  return record ? std::optional<AuthenticationResult>(record->result) : std::nullopt;
}

}  // namespace backplane::authentication
