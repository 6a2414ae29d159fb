#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/host.hpp"
#include "backplane/kit/base64url.hpp"
#include "backplane/kit/external_signer.hpp"
#include "backplane/types/json_reading.hpp"
#include "jose_wire.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFetchLimit{60}, kMetadataLimit{10}, kSignLimit{60}, kPauseAfterError{10};
constexpr std::chrono::milliseconds kConnectPause{100};
constexpr std::size_t kMostKeyIdBytes = 1024;
constexpr std::int64_t kLeastValiditySeconds = 600;
constexpr std::string_view kNoGrpcError = "unknown-non-grpc";

void count_call(const char* name, const char* help, std::string_view code) {
  Metric::counter("apiserver_externaljwt_" + std::string(name), help, {"code"}).add({code});
}

void observe_call(std::string_view method, std::string_view code, SteadyClock::time_point began) {
  Metric::histogram("apiserver_externaljwt_request_duration_seconds", "Request duration and time for calls to external-jwt-signer",
                    {"method", "code"}, {.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60})
      .observe({method, code}, std::chrono::duration<double>(SteadyClock::now() - began).count());
}

void set_time(const char* name, const char* help, double seconds) {
  Metric::gauge("apiserver_externaljwt_" + std::string(name), help, {}).set({}, seconds);
}

double unix_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

struct ExternalKey {
  std::string id, der;
  bool unpublished = false;
};

Result<ExternalKey> read_external_key(std::string_view message) {
  ExternalKey out;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) out.id = field->bytes;
    if (field->number == 2) out.der = field->bytes;
    if (field->number == 3) out.unpublished = field->value != 0;
  }
  if (reader.malformed()) return bad_request("found a malformed public key");
  if (out.id.empty() || out.id.size() > kMostKeyIdBytes) return bad_request("found invalid public key id " + backplane::quoted(out.id));
  if (out.der.empty()) return bad_request("found empty public key");
  return out;
}

double timestamp_of(std::string_view message) {
  double out = 0;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1) out += static_cast<double>(static_cast<std::int64_t>(field->value));
    if (field->number == 2) out += static_cast<double>(field->value) / 1e9;
  }
  return out;
}

Status failed_call(std::string_view what, const grpc::CallStatus& status) {
  return bad_request(std::string(what) + ": " + grpc::to_text(status));
}

}  // namespace

Result<ExternalSigner::Keys> read_external_keys(std::string_view message, SteadyClock::time_point now) {
  ExternalSigner::Keys out;
  std::vector<PublicKey> keys;
  std::int64_t refresh_seconds = 0;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 3) refresh_seconds = static_cast<std::int64_t>(field->value);
    if (field->number != 1) continue;
    auto read = read_external_key(field->bytes);
    if (!read.ok()) return std::move(read).status();
    auto key = PublicKey::from_der(read->der);
    if (!key.ok()) return bad_request("while parsing external public keys: " + key.status().message());
    key->set_id(read->id);
    if (read->unpublished) {
      out.unpublished.push_back(read->id);
    } else {
      out.published.push_back(key->jwk());
    }
    if (keys.size() >= KeySet::kMostKeys) return bad_request("found more than 1000 keys");
    keys.push_back(std::move(*key));
  }
  if (reader.malformed()) return bad_request("malformed FetchKeysResponse");
  if (refresh_seconds <= 0) return bad_request("found invalid refresh hint (" + std::to_string(refresh_seconds) + "s)");
  if (keys.empty()) return bad_request("found no keys");
  out.verifying = KeySet(std::move(keys));
  out.refresh = now + std::chrono::seconds(std::min<std::int64_t>(refresh_seconds, std::int64_t{365} * 24 * 3600));
  return out;
}

ExternalSigner::ExternalSigner(std::shared_ptr<HttpClient> client, Logger& logger)
    : client_(std::move(client)), logger_(logger), keys_(std::make_shared<const Keys>()) {}

Result<std::shared_ptr<HttpClient>> ExternalSigner::make_client(Host& host, const std::string& path) {
  ClientConfig config;
  config.server = "unix://" + path;
  config.http2_prior_knowledge = true;
  return host.make_client(std::move(config));
}

Task<grpc::UnaryAnswer> ExternalSigner::call(std::string method, std::string request, std::chrono::seconds limit) {
  const std::string path = "/v1.ExternalJWTSigner/" + method;
  const auto began = SteadyClock::now();
  grpc::CallOptions options;
  options.deadline = began + limit;
  grpc::UnaryAnswer answer;
  for (;;) {
    answer = co_await grpc::unary(client_, path, request, options);
    const bool again = answer.status.code == grpc::Code::kUnavailable && answer.status.never_sent;
    if (!again || SteadyClock::now() + kConnectPause >= options.deadline) break;
    co_await sleep_for(kConnectPause);
  }
  observe_call(path, grpc::code_name(answer.status.code), began);
  co_return answer;
}

Task<Status> ExternalSigner::fetch() {
  constexpr const char* kHelp = "Total attempts at syncing supported JWKs";
  const grpc::UnaryAnswer answer = co_await call("FetchKeys", {}, kFetchLimit);
  if (!answer.status.ok()) {
    count_call("fetch_keys_request_total", kHelp, grpc::code_name(answer.status.code));
    co_return failed_call("while fetching token verification keys: while getting externally supported jwt signing keys", answer.status);
  }
  auto keys = read_external_keys(answer.message, SteadyClock::now());
  count_call("fetch_keys_request_total", kHelp, keys.ok() ? "OK" : kNoGrpcError);
  if (!keys.ok()) co_return bad_request("while fetching token verification keys: " + keys.status().message());
  set_time("fetch_keys_success_timestamp", "Unix Timestamp in seconds of the last successful FetchKeys request", unix_seconds());
  WireReader reader(answer.message);
  while (const auto field = reader.next()) {
    if (field->number != 2) continue;
    set_time("fetch_keys_data_timestamp",
             "Unix Timestamp in seconds of the last successful FetchKeys data_timestamp value returned by the external signer",
             timestamp_of(field->bytes));
  }
  auto published = std::make_shared<const Keys>(std::move(*keys));
  const std::lock_guard lock(mutex_);
  keys_ = std::move(published);
  co_return Status();
}

Task<Status> ExternalSigner::fetch_metadata() {
  const grpc::UnaryAnswer answer = co_await call("Metadata", {}, kMetadataLimit);
  if (!answer.status.ok()) co_return failed_call("while setting up external-jwt-signer", answer.status);
  std::int64_t seconds = 0;
  WireReader reader(answer.message);
  while (const auto field = reader.next()) {
    if (field->number == 1) seconds = static_cast<std::int64_t>(field->value);
  }
  if (seconds < kLeastValiditySeconds) {
    co_return bad_request("max token life supported by external-jwt-signer (" + std::to_string(seconds) +
                          "s) is less than acceptable (min " + std::to_string(kLeastValiditySeconds) + "s)");
  }
  longest_seconds_ = seconds;
  co_return Status();
}

Task<Status> ExternalSigner::start() {
  Status status = co_await fetch();
  if (!status.ok()) {
    co_return bad_request("while setting up external-jwt-signer: while initially filling key cache: " + status.message());
  }
  status = co_await fetch_metadata();
  co_return status;
}

Task<void> ExternalSigner::refresh(Signal& stop) {
  const auto self = shared_from_this();
  Sleeper sleeper(stop);
  auto pause = keys()->refresh - SteadyClock::now();
  for (;;) {
    const bool running = co_await sleeper.sleep(std::max(pause, SteadyClock::duration::zero()));
    if (!running) co_return;
    const Status status = co_await fetch();
    if (!status.ok()) logger_.error("when syncing supported public keys (stale set of keys will be supported): " + status.message());
    pause = status.ok() ? keys()->refresh - SteadyClock::now() : SteadyClock::duration(kPauseAfterError);
  }
}

ExternalSigner::KeysRef ExternalSigner::keys() const {
  const std::lock_guard lock(mutex_);
  return keys_;
}

Task<ExternalSigner::KeysRef> ExternalSigner::keys_for(std::string key_id) {
  KeysRef have = keys();
  if (!have->verifying.find(key_id).empty()) co_return have;
  const Turns::Turn turn = co_await fetching_.take();
  KeysRef now = keys();
  // Another caller has fetched the keys while this one waited.
  if (now != have) co_return now;
  const Status status = co_await fetch();
  if (!status.ok()) logger_.error("Error while syncing keys: " + status.message());
  co_return keys();
}

Status ExternalSigner::check_header(std::string_view header) const {
  const auto text = from_base64url(header);
  if (!text) return bad_request("while unwrapping header: illegal base64 data");
  const auto value = read_json(*text);
  if (!value || !value->is_object()) return bad_request("while parsing header JSON: not an object");
  const Object& members = value->get_object();
  for (const auto& member : members) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key != "alg" && key != "kid" && key != "typ")
      return bad_request("while parsing header JSON: json: unknown field " + backplane::quoted(key));
  }
  const std::string_view id = get_string(members, "kid"), algorithm = get_string(members, "alg");
  if (get_string(members, "typ") != "JWT") return bad_request("bad type");
  if (id.empty()) return bad_request("key id missing");
  if (id.size() > kMostKeyIdBytes) return bad_request("key id longer than 1 kb");
  constexpr std::array<std::string_view, 4> kSigning{"RS256", "ES256", "ES384", "ES512"};
  if (std::find(kSigning.begin(), kSigning.end(), algorithm) == kSigning.end()) {
    return bad_request("bad signing algorithm " + backplane::quoted(algorithm));
  }
  const KeysRef known = keys();
  if (std::find(known->unpublished.begin(), known->unpublished.end(), id) != known->unpublished.end()) {
    return bad_request("key used for signing JWT (kid: " + std::string(id) + ") is excluded from OIDC discovery docs");
  }
  return {};
}

Task<Result<std::string>> ExternalSigner::signed_token(std::string payload, std::string& code) {
  const std::string encoded = to_base64url(payload);
  std::string request;
  append_wire_text(request, 1, encoded);
  const grpc::UnaryAnswer answer = co_await call("Sign", std::move(request), kSignLimit);
  code = answer.status.ok() ? kNoGrpcError : grpc::code_name(answer.status.code);
  if (!answer.status.ok()) co_return failed_call("while signing jwt", answer.status);
  std::string header, signature;
  WireReader reader(answer.message);
  while (const auto field = reader.next()) {
    if (field->number == 1) header = field->bytes;
    if (field->number == 2) signature = field->bytes;
  }
  Status checked = check_header(header);
  if (!checked.ok()) co_return bad_request("while validating header: " + checked.message());
  if (signature.empty()) co_return bad_request("empty signature returned");
  code = "OK";
  co_return header + "." + encoded + "." + signature;
}

Task<Result<std::string>> ExternalSigner::sign(std::string payload) {
  std::string code;
  auto signing = signed_token(std::move(payload), code);
  auto token = co_await std::move(signing);
  count_call("sign_request_total", "Total attempts at signing JWT", code);
  co_return token;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
