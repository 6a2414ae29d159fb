// Paths outside of the API (http.h).
//
// Thread-safety: handlers are called on threads of the plugin, several at the same time.
// Lifetime:      add_path() stores the handler as long as the plugin exists. A Request is valid during the call.
// Errors:        if a handler throws, the response is a Status with the code and reason of the Error, or a 500.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "backplane/stable/base.hpp"
#include "backplane/stable/http.h"

namespace backplane::stable {

class Request {
 public:
  Request(const bp_http_table& table, bp_exchange* exchange) : table_(table), exchange_(exchange) {}
  std::string_view method() const { return view(table_.method(exchange_)); }
  std::string_view target() const { return view(table_.target(exchange_)); }
  std::string_view body() const { return view(table_.body(exchange_)); }
  std::string_view header(std::string_view name) const { return view(table_.header(exchange_, str(name))); }
  const bp_user& user() const { return *table_.user(exchange_); }

 private:
  const bp_http_table& table_;
  bp_exchange* exchange_;
};
struct Response {
  int code = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};
struct Path {
  std::string path;
  std::function<Response(const Request& request)> handle;
  bool prefix = false;
  bool listed = true;
  std::size_t max_body = 0;
};

namespace detail {
struct KeptPath {
  Host& host;
  Path path;
};
}  // namespace detail

// Registers a path. Call it in provision().
inline void add_path(Host& host, Path path) {
  auto* kept = host.keep(detail::KeptPath{host, std::move(path)});
  bp_path table{};
  table.struct_size = sizeof(table);
  table.path = str(kept->path.path);
  table.prefix = kept->path.prefix ? 1 : 0;
  table.listed = kept->path.listed ? 1 : 0;
  table.self = kept;
  table.max_body = kept->path.max_body;
  table.handle = [](void* self, bp_exchange* exchange, bp_error* error) {
    return detail::barrier(error, [&] {
      auto& own = *static_cast<detail::KeptPath*>(self);
      const auto& http = own.host.find<bp_http_table>(BP_HTTP_TABLE, 1);
      const Response response = own.path.handle(Request(http, exchange));
      http.respond(exchange, response.code, str(response.content_type), str(response.body));
    });
  };
  const auto& http = host.find<bp_http_table>(BP_HTTP_TABLE, 1);
  detail::checked([&](bp_error* error) { return http.add(host.context(), &table, error); });
}

}  // namespace backplane::stable
