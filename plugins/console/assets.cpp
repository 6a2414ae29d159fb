#include "assets.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "access_js.hpp"
#include "api_js.hpp"
#include "backplane/kit/content_hash.hpp"
#include "chain_js.hpp"
#include "charts_js.hpp"
#include "dom_js.hpp"
#include "grid_js.hpp"
#include "icon_svg.hpp"
#include "index_html.hpp"
#include "main_js.hpp"
#include "object_js.hpp"
#include "objects_js.hpp"
#include "style_css.hpp"
#include "types_js.hpp"

namespace backplane::console {
namespace {

constexpr std::string_view kFolder = "/console/";
constexpr std::string_view kHtml = "text/html; charset=utf-8", kScript = "text/javascript; charset=utf-8";

const std::array kAssets{
    Asset{"", kHtml, index_html()},
    Asset{"style.css", "text/css; charset=utf-8", style_css()},
    Asset{"icon.svg", "image/svg+xml", icon_svg()},
    Asset{"main.js", kScript, main_js()},
    Asset{"access.js", kScript, access_js()},
    Asset{"api.js", kScript, api_js()},
    Asset{"chain.js", kScript, chain_js()},
    Asset{"charts.js", kScript, charts_js()},
    Asset{"dom.js", kScript, dom_js()},
    Asset{"grid.js", kScript, grid_js()},
    Asset{"object.js", kScript, object_js()},
    Asset{"objects.js", kScript, objects_js()},
    Asset{"types.js", kScript, types_js()},
};

// The hash is that of the script in index.html. `form-action` is for <form method="dialog">, which sends nothing.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self' 'sha256-fR49wl9+Dh/w+44/8ZtefKAAmyh73qaXSSOdNrdGjcY='; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy", kPolicy},          {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"}, {"Cache-Control", "no-cache"},
};

std::vector<SharedBytes> body_of(std::string_view text) {
  std::vector<SharedBytes> body;
  body.emplace_back(std::string(text));
  return body;
}

// Returns "main.js" for "/console/main.js", and for "/console/3/main.js", by which a browser requests the same file in its third attempt.
std::string_view without_attempt(std::string_view path) noexcept {
  constexpr std::string_view kDigits = "0123456789";
  std::string_view name = path.substr(std::min(kFolder.size(), path.size()));
  const std::size_t digits = std::min(name.find_first_not_of(kDigits), name.size());
  const bool numbered = digits > 0 && digits <= 2 && digits + 1 < name.size() && name[digits] == '/';
  return numbered ? name.substr(digits + 1) : name;
}

}  // namespace

const Asset* find_asset(std::string_view path) noexcept {
  if (!path.starts_with(kFolder)) return nullptr;
  const std::string_view name = without_attempt(path);
  const auto found = std::find_if(kAssets.begin(), kAssets.end(), [name](const Asset& asset) { return asset.name == name; });
  return found == kAssets.end() ? nullptr : &*found;
}

std::string_view content_security_policy() noexcept { return kPolicy; }

Task<void> AssetHandler::handle(RequestContext&, Exchange& exchange) {
  const std::string_view path = exchange.target().substr(0, exchange.target().find('?'));
  for (const auto& [name, value] : kHeaders) exchange.set_response_header(name, value);
  if (exchange.method() != "GET" && exchange.method() != "HEAD") {
    exchange.set_response_header("Allow", "GET, HEAD");
    co_await exchange.respond(405, "text/plain; charset=utf-8", body_of("method not allowed\n"));
    co_return;
  }
  if (path == "/console") {
    exchange.set_response_header("Location", "/console/");
    co_await exchange.respond(301, "text/plain; charset=utf-8", {});
    co_return;
  }
  const Asset* asset = find_asset(path);
  if (asset == nullptr) {
    co_await exchange.respond(404, "text/plain; charset=utf-8", body_of("404 page not found\n"));
    co_return;
  }
  const std::string tag = "\"" + kit::content_hash(asset->bytes) + "\"";
  exchange.set_response_header("ETag", tag);
  if (exchange.header("If-None-Match") == tag) {
    co_await exchange.respond(304, asset->content_type, {});
    co_return;
  }
  exchange.set_compressible(true);
  co_await exchange.respond(200, asset->content_type, body_of(asset->bytes));
}

}  // namespace backplane::console
