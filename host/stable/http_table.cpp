// Paths of the stable tier.
#include <strings.h>

#include <algorithm>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"
#include "stable/users.hpp"

// The request is read before the callback and the response is sent after it: the connection belongs to another thread.
struct bp_exchange {
  explicit bp_exchange(const backplane::Exchange& exchange, const backplane::stable::SeenUser& its_user)
      : method(exchange.method()), target(exchange.target()), sent(exchange.headers()), user(its_user) {}
  const std::string method, target;
  const backplane::Headers sent;
  const backplane::stable::SeenUser& user;
  std::string body = {};
  backplane::Headers headers = {};
  int code = 0;  // 0: no response yet
  std::string content_type = {}, response = {};
};

namespace backplane::stable {
namespace {

constexpr int kFirstCode = 200, kLastCode = 599;

class TablePath final : public HttpHandler {
 public:
  TablePath(bp_context& context, const bp_path& table) : context_(context), table_(table) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const SeenUser user(*context.user);
    bp_exchange seen(exchange, user);
    Status status;
    if (table_.max_body != 0) {
      auto reading = exchange.read_body(table_.max_body);
      auto body = co_await std::move(reading);
      if (body.ok()) seen.body = std::move(*body);
      if (!body.ok()) status = std::move(body).status();
    }
    if (status.ok()) {
      auto running = context_.threads->run([&] { status = call(seen); });
      co_await std::move(running);
    }
    if (!status.ok()) show_error(seen, status);
    for (const auto& [name, value] : seen.headers) exchange.add_response_header(name, value);
    std::vector<SharedBytes> parts;
    parts.emplace_back(std::move(seen.response));
    auto sending = exchange.respond(seen.code, seen.content_type, std::move(parts));
    co_await std::move(sending);
  }

 private:
  Status call(bp_exchange& seen) const {
    bp_error error{};
    if (table_.handle(table_.self, &seen, &error) != 0) return status_of(error);
    if (seen.code == 0) return internal_error("the handler has sent no response");
    if (seen.code < kFirstCode || seen.code > kLastCode) return internal_error("the handler has sent an invalid status code");
    return {};
  }
  static void show_error(bp_exchange& seen, const Status& status) {
    seen.headers.clear();
    seen.code = status.code();
    if (status.details() != nullptr && status.details()->retry_after_seconds > 0) {
      seen.headers.emplace_back("Retry-After", std::to_string(status.details()->retry_after_seconds));
    }
    seen.content_type = "application/json";
    seen.response = status.to_json();
  }

  bp_context& context_;
  const bp_path table_;
};

int32_t add_table_path(bp_context* context, const bp_path* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_path table = copy_of(given);
    if (table.handle == nullptr) return bad_request("a path needs handle()");
    PathRoute route;
    route.path = text(table.path);
    route.prefix = table.prefix != 0;
    route.listed = table.listed != 0;
    route.handler = std::make_shared<TablePath>(*context, table);
    return context->host->handle(std::move(route));
  });
}

bp_str sent_header(bp_exchange* exchange, bp_str name) {
  const auto same = [&](const Header& header) {
    return header.first.size() == name.size && ::strncasecmp(header.first.data(), name.data, name.size) == 0;
  };
  const auto found = std::find_if(exchange->sent.begin(), exchange->sent.end(), same);
  return found == exchange->sent.end() ? bp_str{nullptr, 0} : str(found->second);
}

void respond_once(bp_exchange* exchange, int32_t code, bp_str content_type, bp_str body) {
  if (exchange->code != 0) return;
  exchange->code = code;
  exchange->content_type = text(content_type);
  exchange->response = text(body);
}

}  // namespace

const bp_http_table& http_table() {
  static const bp_http_table kTable = {
      .struct_size = sizeof(bp_http_table),
      .add = add_table_path,
      .method = [](bp_exchange* exchange) { return str(exchange->method); },
      .target = [](bp_exchange* exchange) { return str(exchange->target); },
      .body = [](bp_exchange* exchange) { return str(exchange->body); },
      .header = sent_header,
      .user = [](bp_exchange* exchange) { return exchange->user.table(); },
      .add_header = [](bp_exchange* exchange, bp_str name, bp_str value) { exchange->headers.emplace_back(text(name), text(value)); },
      .respond = respond_once,
  };
  return kTable;
}

}  // namespace backplane::stable
