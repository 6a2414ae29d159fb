#include "app/served_store.hpp"

#include <fstream>
#include <sstream>

#include "backplane/core/json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/store_inspection.hpp"
#include "backplane/types/base64.hpp"
#include "client/remote_client.hpp"
#include "storage/store_hold.hpp"
#include "storage/store_walk.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMaxAnswer = std::size_t{1} << 30;  // a page of the largest values

Result<ClientConfig> read_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) return bad_request("the kubeconfig " + backplane::quoted(path) + " cannot be read");
  auto config = client_config_from_kubeconfig(text.str());
  if (!config.ok()) return bad_request("the kubeconfig " + backplane::quoted(path) + " cannot be used: " + config.status().message());
  config->user_agent = "backplane-store";
  return config;
}

Result<RangeResult> parse_range(const Object& answer) {
  RangeResult result;
  const Status broken = internal_error("the running server answers something that is no page of its store");
  const Value* revision = answer.if_contains("revision");
  const Value* more = answer.if_contains("more");
  const Value* items = answer.if_contains("items");
  if (revision == nullptr || more == nullptr || items == nullptr || !revision->is_int64() || !more->is_bool() || !items->is_array()) {
    return broken;
  }
  result.revision = revision->get_int64();
  result.more = more->get_bool();
  for (const Value& each : items->get_array()) {
    const Object* item = each.if_object();
    const Value* key = item != nullptr ? item->if_contains("key") : nullptr;
    const Value* value = item != nullptr ? item->if_contains("value") : nullptr;
    const Value* at = item != nullptr ? item->if_contains("revision") : nullptr;
    const Value* lease = item != nullptr ? item->if_contains("lease") : nullptr;
    if (key == nullptr || value == nullptr || at == nullptr || lease == nullptr || !key->is_string() || !value->is_string()) return broken;
    const auto bytes = from_base64(value->get_string());
    if (!bytes || !at->is_int64() || !lease->is_int64()) return broken;
    KeyValue kv;
    kv.key = std::string(key->get_string());
    kv.value = SharedBytes(*bytes);
    kv.mod_revision = at->get_int64();
    kv.lease = lease->get_int64();
    result.items.push_back(std::move(kv));
  }
  result.count = static_cast<std::int64_t>(result.items.size());
  return result;
}

std::int64_t number_in(const Object& object, std::string_view name) {
  const Value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : -1;
}

StoreFacts parse_facts(const Object& answer) {
  StoreFacts facts;
  facts.revision = number_in(answer, "revision");
  facts.compacted = number_in(answer, "compacted");
  facts.files = number_in(answer, "files");
  facts.file_bytes = number_in(answer, "fileBytes");
  facts.logs = number_in(answer, "logs");
  facts.log_bytes = number_in(answer, "logBytes");
  facts.memory_bytes = number_in(answer, "memoryBytes");
  facts.free_bytes = number_in(answer, "freeBytes");
  facts.rows = number_in(answer, "rows");
  return facts;
}

Result<StoreCheckPart> parse_check(const Object& answer) {
  StoreCheckPart part;
  const auto next = from_base64(get_string(answer, "next"));
  const Array* damage = get_array(answer, "damage");
  if (!next || damage == nullptr) return internal_error("the running server answers something that is no part of a check");
  part.next = *next;
  part.bytes = number_in(answer, "bytes");
  part.rows = number_in(answer, "rows");
  for (const Value& each : *damage) {
    if (const Object* row = each.if_object()) {
      part.damage.push_back({std::string(get_string(*row, "file")), number_in(*row, "offset"), std::string(get_string(*row, "what"))});
    }
  }
  return part;
}

Object range_body(const RangeRequest& request) {
  return Object{{"start", request.start},
                {"end", request.end},
                {"revision", request.revision},
                {"limit", request.limit == 0 ? 1 : request.limit},
                {"keysOnly", request.keys_only}};
}

Object hold_body(const Put& put) { return Object{{"text", put.value.view()}, {"seconds", put.lease}}; }

// The metav1.Status of a response.
Status status_of(int code, const Object& answer) {
  const Value* message = answer.if_contains("message");
  const Value* reason = answer.if_contains("reason");
  std::string text = message != nullptr && message->is_string() ? std::string(message->get_string()) : "code " + std::to_string(code);
  const std::string_view name = reason != nullptr && reason->is_string() ? std::string_view(reason->get_string()) : std::string_view();
  for (const Reason each :
       {Reason::kExpired, Reason::kForbidden, Reason::kUnauthorized, Reason::kServiceUnavailable, Reason::kBadRequest}) {
    if (reason_name(each) == name) return Status(code, each, std::move(text));
  }
  return Status(code, Reason::kInternalError, std::move(text));
}

class ServedStore final : public StorageBackend, public StoreInspection {
 public:
  explicit ServedStore(std::shared_ptr<HttpClient> client) : client_(std::move(client)) {}

  Task<Result<Revision>> current_revision() override {
    RangeRequest request;
    request.start = std::string(kObjectKeyPrefix);
    request.end = std::string(kObjectKeysEnd);
    request.limit = 1;
    request.keys_only = true;
    auto reading = range(std::move(request));
    auto found = co_await std::move(reading);
    if (!found.ok()) co_return std::move(found.status());
    co_return Revision{found->revision};
  }
  Task<Result<RangeResult>> range(RangeRequest request) override {
    auto asking = ask("range", range_body(request));
    auto answer = co_await std::move(asking);
    if (!answer.ok()) co_return std::move(answer.status());
    co_return parse_range(*answer);
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override {
    const bool puts = request.puts.size() == 1 && request.puts.front().key == kHoldKey && request.removes.empty();
    const bool removes = request.removes.size() == 1 && request.removes.front() == kHoldKey && request.puts.empty();
    if (!puts && !removes) co_return not_supported();
    Object body;
    if (puts) body = hold_body(request.puts.front());
    auto asking = ask(puts ? "hold" : "release", std::move(body));
    auto answer = co_await std::move(asking);
    if (!answer.ok()) co_return std::move(answer.status());
    TxnResult result;
    result.committed = true;
    co_return result;
  }
  Result<std::unique_ptr<StorageWatch>> watch(std::string, Revision) override { return not_supported(); }
  Task<Status> compact(Revision) override { co_return not_supported(); }
  // The hold has the only lease, so the lease's id can be its time to live.
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override { co_return LeaseId{ttl.count()}; }
  Task<Status> health(std::chrono::milliseconds) override {
    auto asking = current_revision();
    auto answer = co_await std::move(asking);
    co_return answer.status();
  }
  Task<Status> stop() override { co_return Status(); }
  Task<Result<StoreFacts>> facts() override {
    auto asking = ask("facts", {});
    auto answer = co_await std::move(asking);
    if (!answer.ok()) co_return std::move(answer.status());
    co_return parse_facts(*answer);
  }
  Task<Result<StoreCheckPart>> check(std::string from) override {
    auto asking = ask("check", Object{{"from", to_base64(from)}});
    auto answer = co_await std::move(asking);
    if (!answer.ok()) co_return std::move(answer.status());
    co_return parse_check(*answer);
  }

 private:
  static Status not_supported() { return bad_request("the store of a running server is only read"); }

  Task<Result<Object>> ask(std::string what, Object body) {
    HttpCall call;
    call.method = "POST";
    call.target = "/debug/store/" + what;
    call.headers.emplace_back("Content-Type", "application/json");
    call.body = boost::json::serialize(body);
    auto calling = client_->call(std::move(call));
    auto answer = co_await std::move(calling);
    if (!answer.ok()) co_return std::move(answer.status());
    auto reading = read_all(**answer, kMaxAnswer);
    auto text = co_await std::move(reading);
    if (!text.ok()) co_return std::move(text.status());
    co_return parse_answer((*answer)->code(), *text);
  }

  static Result<Object> parse_answer(int code, const std::string& text) {
    boost::system::error_code error;
    Value value = boost::json::parse(text, error);
    if (error || !value.is_object()) return internal_error("the running server answers " + std::to_string(code) + ", and no JSON");
    if (code == 200) return std::move(value.get_object());
    return status_of(code, value.get_object());
  }

  const std::shared_ptr<HttpClient> client_;
};

}  // namespace

Result<std::unique_ptr<StorageBackend>> open_served_store(const std::string& kubeconfig_path, IoLoop& loop, TaskGroup& tasks) {
  auto config = read_config(kubeconfig_path);
  if (!config.ok()) return std::move(config.status());
  auto client = make_remote_client(loop, tasks, std::move(*config));
  if (!client.ok()) return std::move(client.status());
  return std::unique_ptr<StorageBackend>(std::make_unique<ServedStore>(std::move(*client)));
}

}  // namespace backplane
