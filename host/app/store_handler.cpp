#include "app/store_handler.hpp"

#include <algorithm>

#include "app/find_inspection.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/store_inspection.hpp"
#include "backplane/types/base64.hpp"
#include "storage/store_hold.hpp"
#include "storage/store_walk.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMaxBody = 64 * 1024;
constexpr std::string_view kMasters = "system:masters";

std::string text_of(const Object& body, std::string_view name) {
  const Value* value = body.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::int64_t number_of(const Object& body, std::string_view name) {
  const Value* value = body.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

bool flag_of(const Object& body, std::string_view name) {
  const Value* value = body.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// Only objects and the hold can be read; other keys of the store are not accessible.
Result<RangeRequest> range_request(const Object& body) {
  RangeRequest request;
  request.start = text_of(body, "start");
  request.end = text_of(body, "end");
  request.revision = number_of(body, "revision");
  request.limit = std::clamp<std::int64_t>(number_of(body, "limit"), 1, StoreWalk::kMaxPage);
  request.keys_only = flag_of(body, "keysOnly");
  request.skip_count = true;
  const bool objects = request.start.starts_with(kObjectKeyPrefix) && request.end <= kObjectKeysEnd;
  const bool mark = request.start == kHoldKey && request.end.empty();
  if (!objects && !mark) return bad_request("only objects of the store can be read");
  return request;
}

std::string range_answer(const RangeResult& found) {
  Array items;
  for (const KeyValue& item : found.items) {
    items.push_back(
        Object{{"key", item.key}, {"value", to_base64(item.value.view())}, {"revision", item.mod_revision}, {"lease", item.lease}});
  }
  const Object answer{{"revision", found.revision}, {"more", found.more}, {"items", std::move(items)}};
  return boost::json::serialize(answer);
}

Task<Status> put_hold(StorageBackend& store, std::string text, std::int64_t seconds) {
  Put put;
  put.key = std::string(kHoldKey);
  put.value = SharedBytes(std::move(text));
  if (seconds > 0) {
    auto granting = store.grant_lease(std::chrono::seconds(seconds));
    auto granted = co_await std::move(granting);
    if (!granted.ok()) co_return std::move(granted.status());
    put.lease = *granted;
  }
  TxnRequest request;
  request.puts.push_back(std::move(put));
  auto writing = store.txn(std::move(request));
  auto written = co_await std::move(writing);
  co_return written.status();
}

Task<Status> remove_hold(StorageBackend& store) {
  TxnRequest request;
  request.removes.emplace_back(kHoldKey);
  auto writing = store.txn(std::move(request));
  auto written = co_await std::move(writing);
  co_return written.status();
}

// One of the operations. It returns the body of the response.
using Work = Task<Result<std::string>> (*)(StorageBackend& store, Object body);

Task<Result<std::string>> range(StorageBackend& store, Object body) {
  auto request = range_request(body);
  if (!request.ok()) co_return std::move(request.status());
  auto reading = store.range(std::move(*request));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return std::move(found.status());
  co_return range_answer(*found);
}

Task<Result<std::string>> hold(StorageBackend& store, Object body) {
  std::string text = text_of(body, "text");
  if (!parse_hold(text)) co_return bad_request("the text is no hold");
  auto putting = put_hold(store, std::move(text), number_of(body, "seconds"));
  Status put = co_await std::move(putting);
  if (!put.ok()) co_return put;
  co_return std::string("{}");
}

Task<Result<std::string>> release(StorageBackend& store, Object) {
  auto removing = remove_hold(store);
  Status removed = co_await std::move(removing);
  if (!removed.ok()) co_return removed;
  co_return std::string("{}");
}

Result<StoreInspection*> inspection_of(StorageBackend& store) {
  auto* const inspection = find_inspection(store);
  if (inspection == nullptr) return bad_request("the server's store has no files on this host");
  return inspection;
}

Task<Result<std::string>> facts(StorageBackend& store, Object) {
  auto inspection = inspection_of(store);
  if (!inspection.ok()) co_return std::move(inspection.status());
  auto asking = (*inspection)->facts();
  auto found = co_await std::move(asking);
  if (!found.ok()) co_return std::move(found.status());
  co_return to_json(Object{{"revision", found->revision},
                           {"compacted", found->compacted},
                           {"files", found->files},
                           {"fileBytes", found->file_bytes},
                           {"logs", found->logs},
                           {"logBytes", found->log_bytes},
                           {"memoryBytes", found->memory_bytes},
                           {"freeBytes", found->free_bytes},
                           {"rows", found->rows}});
}

Task<Result<std::string>> check(StorageBackend& store, Object body) {
  auto inspection = inspection_of(store);
  if (!inspection.ok()) co_return std::move(inspection.status());
  const auto from = from_base64(text_of(body, "from"));
  if (!from) co_return bad_request("\"from\" is no base64");
  auto checking = (*inspection)->check(*from);
  auto part = co_await std::move(checking);
  if (!part.ok()) co_return std::move(part.status());
  Array damage;
  for (const StoreDamage& each : part->damage) damage.push_back(Object{{"file", each.file}, {"offset", each.offset}, {"what", each.what}});
  co_return to_json(Object{{"next", to_base64(part->next)}, {"bytes", part->bytes}, {"rows", part->rows}, {"damage", std::move(damage)}});
}

class StoreHandler final : public HttpHandler {
 public:
  StoreHandler(StorageBackend& store, Work work) : store_(store), work_(work) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    auto working = answer(context, exchange);
    Result<std::string> done = co_await std::move(working);
    std::vector<SharedBytes> body;
    int code = 200;
    if (done.ok()) {
      body.emplace_back(std::move(*done));
    } else {
      code = done.status().code();
      body.emplace_back(done.status().to_json());
    }
    co_await exchange.respond(code, "application/json", std::move(body));
  }

 private:
  Task<Result<std::string>> answer(RequestContext& context, Exchange& exchange) {
    const auto& groups = context.user->groups;
    if (std::find(groups.begin(), groups.end(), kMasters) == groups.end()) {
      co_return Status(Reason::kForbidden, "the store itself is for users of the group " + std::string(kMasters));
    }
    if (exchange.method() != "POST") co_return Status(Reason::kMethodNotAllowed, "only POST is allowed");
    auto reading = exchange.read_body(kMaxBody);
    auto text = co_await std::move(reading);
    if (!text.ok()) co_return std::move(text.status());
    boost::system::error_code error;
    Value value = boost::json::parse(*text, error);
    if (error || !value.is_object()) co_return bad_request("the body is no JSON object");
    auto working = work_(store_, std::move(value.get_object()));
    auto done = co_await std::move(working);
    co_return done;
  }

  StorageBackend& store_;
  const Work work_;
};

}  // namespace

std::vector<PathRoute> store_routes(StorageBackend& store) {
  std::vector<PathRoute> routes;
  routes.push_back({"/debug/store/range", false, false, std::make_shared<StoreHandler>(store, range)});
  routes.push_back({"/debug/store/hold", false, false, std::make_shared<StoreHandler>(store, hold)});
  routes.push_back({"/debug/store/release", false, false, std::make_shared<StoreHandler>(store, release)});
  routes.push_back({"/debug/store/facts", false, false, std::make_shared<StoreHandler>(store, facts)});
  routes.push_back({"/debug/store/check", false, false, std::make_shared<StoreHandler>(store, check)});
  return routes;
}

}  // namespace backplane
