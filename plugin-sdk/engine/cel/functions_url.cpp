// url() and the accessors of its result.
#include <algorithm>
#include <vector>

#include "cel/functions.hpp"
#include "cel/url.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kMostParameters = 10'000;

Val url(Call& call) {
  UrlVal out;
  std::string error;
  if (!parse_url(call.arena, call.text(0), out, error)) {
    return error_val(call.arena, "URL parse error during conversion from string: " + error);
  }
  return opaque_val(call.arena.keep(out));
}
Val is_url(Call& call) { return bool_val(request_uri_problem(call.text(0)).empty()); }

Val scheme(Call& call) { return string_val(as<UrlVal>(call[0]).scheme); }
Val host(Call& call) { return string_val(as<UrlVal>(call[0]).host); }
Val escaped_path(Call& call) { return string_val(as<UrlVal>(call[0]).escaped_path); }

// The position of the colon before a port; the end if there is none.
std::size_t port_mark(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return host.size();
  const std::string_view port = host.substr(colon + 1);
  return std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; }) ? colon : host.size();
}
Val hostname(Call& call) {
  std::string_view name = as<UrlVal>(call[0]).host;
  name = name.substr(0, port_mark(name));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return string_val(name);
}
Val port(Call& call) {
  const std::string_view host = as<UrlVal>(call[0]).host;
  const std::size_t mark = port_mark(host);
  return string_val(mark == host.size() ? std::string_view() : host.substr(mark + 1));
}

Val query(Call& call) {
  struct Parameter {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Parameter> parameters;
  std::string_view rest = as<UrlVal>(call[0]).query;
  if (static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '&')) >= kMostParameters) rest = {};
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    if (!unescape_query(pair.substr(0, equals), name) || !unescape_query(pair.substr(std::min(pair.size(), equals + 1)), value)) continue;
    auto known = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& parameter) { return parameter.name == name; });
    if (known == parameters.end()) known = parameters.insert(known, Parameter{name, {}});
    known->values.push_back(std::move(value));
  }
  auto* entries = call.arena.allocate<MapEntry>(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Val* values = call.arena.allocate<Val>(parameters[i].values.size());
    for (std::size_t j = 0; j < parameters[i].values.size(); ++j) values[j] = kept_string(call.arena, parameters[i].values[j]);
    entries[i] = {kept_string(call.arena, parameters[i].name), list_val(values, parameters[i].values.size())};
  }
  return make_map(call.arena, entries, parameters.size());
}

constexpr Implementation kFunctions[] = {
    {"string_to_url", url},
    {"is_url_string", is_url},
    {"url_get_scheme", scheme},
    {"url_get_host", host},
    {"url_get_hostname", hostname},
    {"url_get_port", port},
    {"url_get_escaped_path", escaped_path},
    {"url_get_query", query},
};

}  // namespace

std::span<const Implementation> url_functions() { return kFunctions; }

}  // namespace backplane::cel_detail
