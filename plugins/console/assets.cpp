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

constexpr std::string_view kHtml = "text/html; charset=utf-8", kScript = "text/javascript; charset=utf-8";

const std::array kAssets{
    Asset{"/console/", kHtml, index_html()},
    Asset{"/console/style.css", "text/css; charset=utf-8", style_css()},
    Asset{"/console/icon.svg", "image/svg+xml", icon_svg()},
    Asset{"/console/main.js", kScript, main_js()},
    Asset{"/console/access.js", kScript, access_js()},
    Asset{"/console/api.js", kScript, api_js()},
    Asset{"/console/chain.js", kScript, chain_js()},
    Asset{"/console/charts.js", kScript, charts_js()},
    Asset{"/console/dom.js", kScript, dom_js()},
    Asset{"/console/grid.js", kScript, grid_js()},
    Asset{"/console/object.js", kScript, object_js()},
    Asset{"/console/objects.js", kScript, objects_js()},
    Asset{"/console/types.js", kScript, types_js()},
};

// The hash is that of the script in index.html. `form-action` is for <form method="dialog">, which sends nothing.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self' 'sha256-wntN98KJLhyK/tTbTXuGb5uL2qEclPMVZ/a+yyfmKJI='; style-src 'self'; img-src 'self'; "
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

}  // namespace

const Asset* find_asset(std::string_view path) noexcept {
  const auto found = std::find_if(kAssets.begin(), kAssets.end(), [&](const Asset& asset) { return asset.path == path; });
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
