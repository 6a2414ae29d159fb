#include "backplane/kit/webhook_rules.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

std::string_view url_problem(std::string_view url) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(url.begin(), url.end(), control)) return "net/url: invalid control character in URL";
  return {};
}

// The parts of a URL (net/url.Parse) that the rules for webhooks check.
struct Url {
  std::string_view scheme, user, host, query, fragment;
  bool has_user = false;
  std::string problem;
};

bool is_scheme(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), allowed);
}

// Returns the error for an invalid escape, such as "%2" or "%zz".
std::string escape_problem(std::string_view text) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 < text.size() && hex(text[i + 1]) && hex(text[i + 2])) continue;
    return "invalid URL escape " + quoted(text.substr(i, 3));
  }
  return {};
}

std::string host_problem(std::string_view host) {
  const std::string_view bad = " \"<>\\^`{|}";
  const auto found = host.find_first_of(bad);
  if (found != std::string_view::npos) return "invalid character " + quoted(host.substr(found, 1)) + " in host name";
  const auto end = host.starts_with('[') ? host.find(']') : 0;
  if (end == std::string_view::npos) return "missing ']' in host";
  const auto colon = host.find(':', end);
  if (colon == std::string_view::npos) return {};
  const std::string_view port = host.substr(colon + 1);
  const bool digits = std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? "" : "invalid port " + quoted(host.substr(colon)) + " after host";
}

void parse_authority(std::string_view authority, Url& out) {
  const auto sign = authority.rfind('@');
  out.has_user = sign != std::string_view::npos;
  if (out.has_user) out.user = authority.substr(0, sign);
  out.host = out.has_user ? authority.substr(sign + 1) : authority;
  out.problem = host_problem(out.host);
}

Url parse_url(std::string_view text) {
  Url out;
  std::string_view rest = text.substr(0, text.find('#'));
  if (rest.size() < text.size()) out.fragment = text.substr(rest.size() + 1);
  out.problem = url_problem(rest);
  if (!out.problem.empty()) return out;
  const auto colon = rest.find(':');
  if (colon == 0) out.problem = "missing protocol scheme";
  if (colon != std::string_view::npos && is_scheme(rest.substr(0, colon))) {
    out.scheme = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  if (const auto mark = rest.find('?'); mark != std::string_view::npos) {
    out.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with('/')) {
    const std::string_view first = rest.substr(0, rest.find('/'));
    if (out.scheme.empty() && out.problem.empty() && first.find(':') != std::string_view::npos) {
      out.problem = "first path segment in URL cannot contain colon";
    }
    if (!out.scheme.empty()) return out;
  } else if (rest.starts_with("//") && (!out.scheme.empty() || !rest.starts_with("///"))) {
    const std::string_view authority = rest.substr(2, rest.find('/', 2) - 2);
    rest.remove_prefix(2 + authority.size());
    parse_authority(authority, out);
  }
  if (out.problem.empty()) out.problem = escape_problem(rest);
  return out;
}

void check_url_path(std::string_view text, const std::string& path, FieldErrors& errors) {
  if (text.empty() || text == "/") return;
  if (text == "//") return errors.invalid(path, text, "segment[0] may not be empty");
  if (!text.starts_with('/')) errors.invalid(path, text, "must start with a '/'");
  std::string_view rest = text.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (std::size_t i = 0;; ++i) {
    const std::string_view step = rest.substr(0, rest.find('/'));
    const std::string segment = "segment[" + std::to_string(i) + "]";
    if (step.empty()) errors.invalid(path, text, segment + " may not be empty");
    for (const std::string& problem : step.empty() ? Problems() : is_dns1123_subdomain(step))
      errors.invalid(path, text, segment + ": " + problem);
    if (step.size() == rest.size()) return;
    rest.remove_prefix(step.size() + 1);
  }
}

}  // namespace

void check_webhook_url(std::string_view text, const std::string& path, FieldErrors& errors) {
  const std::string form = "; desired format: https://host[/path]";
  const Url url = parse_url(text);
  if (!url.problem.empty()) return errors.required(path, "url must be a valid URL: parse " + quoted(text) + ": " + url.problem + form);
  if (lower_case(url.scheme) != "https") errors.invalid(path, lower_case(url.scheme), "'https' is the only allowed URL scheme" + form);
  if (url.host.empty()) errors.invalid(path, url.host, "host must be specified" + form);
  if (url.has_user) errors.invalid(path, url.user, "user information is not permitted in the URL");
  if (!url.fragment.empty()) errors.invalid(path, url.fragment, "fragments are not permitted in the URL");
  if (!url.query.empty()) errors.invalid(path, url.query, "query parameters are not permitted in the URL");
}

// As upstream, reports a missing namespace at the path of the name, and a missing name at the path of the namespace.
void check_webhook_service(const Object& service, const std::string& path, FieldErrors& errors) {
  if (get_string(service, "namespace").empty()) errors.required(at(path, "name"));
  if (get_string(service, "name").empty()) errors.required(at(path, "namespace"));
  const std::int64_t port = get_int(service, "port").value_or(0);
  const Problems problems = is_valid_port_num(port);
  std::string joined;
  for (const std::string& problem : problems) joined += (joined.empty() ? "" : ", ") + problem;
  if (!problems.empty()) errors.invalid(at(path, "port"), port, "port is not valid: " + joined);
  if (has(service, "path")) check_url_path(get_string(service, "path"), at(path, "path"), errors);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
