#include "cel/url.hpp"

#include <algorithm>

#include "cel/address.hpp"
#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

enum class Part : unsigned char { kPath, kHost, kZone, kUser, kQuery, kFragment };

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool any_of(char c, std::string_view set) noexcept { return set.find(c) != std::string_view::npos; }

bool should_escape(char c, Part part) noexcept {
  if (is_letter(c) || is_digit(c) || any_of(c, "-_.~")) return false;
  if ((part == Part::kHost || part == Part::kZone) && any_of(c, "!$&'()*+,;=:[]<>\"")) return false;
  if (any_of(c, "$&+,/:;=?@")) {
    switch (part) {
      case Part::kPath:
        return c == '?';
      case Part::kUser:
        return any_of(c, "@/?:");
      case Part::kQuery:
        return true;
      case Part::kFragment:
        return false;
      default:
        return true;
    }
  }
  return part != Part::kFragment || !any_of(c, "!()*");
}

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool unescape(std::string_view text, Part part, std::string& out, std::string& error) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const std::string_view code = text.substr(i, 3);
      const int high = code.size() == 3 ? hex_digit(code[1]) : -1, low = code.size() == 3 ? hex_digit(code[2]) : -1;
      const char byte = static_cast<char>(high << 4 | low);
      const bool refused = (part == Part::kHost && high < 8 && code != "%25") ||
                           (part == Part::kZone && code != "%25" && byte != ' ' && should_escape(byte, Part::kHost));
      if (high < 0 || low < 0 || refused) {
        error = "invalid URL escape " + quoted(code);
        return false;
      }
      out.push_back(byte);
      i += 2;
    } else if (c == '+' && part == Part::kQuery) {
      out.push_back(' ');
    } else {
      if ((part == Part::kHost || part == Part::kZone) && static_cast<unsigned char>(c) < 0x80 && should_escape(c, part)) {
        error = "invalid character " + quoted(text.substr(i, 1)) + " in host name";
        return false;
      }
      out.push_back(c);
    }
  }
  return true;
}

std::string escape(std::string_view text, Part part) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (should_escape(c, part)) {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    } else {
      out.push_back(c);
    }
  }
  return out;
}

bool is_valid_path(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return any_of(c, "!$&'()*+,;=:@[]%") || !should_escape(c, Part::kPath); });
}

bool is_optional_port(std::string_view text) noexcept {
  return text.empty() || (text[0] == ':' && std::all_of(text.begin() + 1, text.end(), is_digit));
}

class UrlReader {
 public:
  UrlReader(Arena& arena, UrlVal& out, std::string& error) : arena_(arena), out_(out), error_(error) {}

  bool read(std::string_view text, bool request) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (std::any_of(text.begin(), text.end(), is_control)) return fail("net/url: invalid control character in URL");
    if (text.empty() && request) return fail("empty url");
    if (text == "*") {
      out_.path = out_.escaped_path = "*";
      return true;
    }
    std::string_view rest = text;
    if (!scheme(rest)) return false;
    if (rest.ends_with('?') && std::count(rest.begin(), rest.end(), '?') == 1) {
      out_.force_query = true;
      rest.remove_suffix(1);
    } else if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
      out_.query = rest.substr(mark + 1);
      rest = rest.substr(0, mark);
    }
    if (!rest.starts_with('/')) {
      if (!out_.scheme.empty()) {
        out_.opaque_part = rest;
        return true;
      }
      if (request) return fail("invalid URI for request");
      if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) return fail("first path segment in URL cannot contain colon");
    }
    if ((!out_.scheme.empty() || (!request && !rest.starts_with("///"))) && rest.starts_with("//")) {
      const std::string_view authority = rest.substr(2, rest.substr(2).find('/'));
      rest.remove_prefix(2 + authority.size());
      if (!read_authority(authority)) return false;
    }
    return path(rest);
  }

 private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool scheme(std::string_view& rest) {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (is_letter(c)) continue;
      if (is_digit(c) || any_of(c, "+-.")) {
        if (i == 0) return true;
        continue;
      }
      if (c != ':') return true;
      if (i == 0) return fail("missing protocol scheme");
      std::string name(rest.substr(0, i));
      for (char& letter : name) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
      out_.scheme = arena_.keep_text(name);
      rest.remove_prefix(i + 1);
      return true;
    }
    return true;
  }

  bool read_authority(std::string_view authority) {
    const std::size_t at = authority.rfind('@');
    if (!read_host(at == std::string_view::npos ? authority : authority.substr(at + 1))) return false;
    if (at == std::string_view::npos) return true;
    const std::string_view user = authority.substr(0, at);
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || any_of(c, "-._:~!$&'()*+,;=%@"); };
    if (!std::all_of(user.begin(), user.end(), allowed)) return fail("net/url: invalid userinfo");
    std::string name;
    const std::size_t colon = user.find(':');
    if (!unescape(user.substr(0, colon), Part::kUser, name, error_)) return false;
    std::string kept = escape(name, Part::kUser);
    if (colon != std::string_view::npos) {
      if (!unescape(user.substr(colon + 1), Part::kUser, name, error_)) return false;
      kept += ":" + escape(name, Part::kUser);
    }
    out_.user = arena_.keep_text(kept);
    out_.has_user = true;
    return true;
  }

  bool read_host(std::string_view host) {
    const std::size_t open = host.rfind('[');
    if (open != std::string_view::npos && open > 0) return fail("invalid IP-literal");
    std::string plain;
    if (open == 0) {
      if (!bracketed(host, plain)) return false;
    } else {
      std::size_t colon = host.find(':');
      if (colon != std::string_view::npos && out_.scheme != "http" && out_.scheme != "https") colon = host.rfind(':');
      if (colon != std::string_view::npos && !is_optional_port(host.substr(colon)))
        return fail("invalid port " + quoted(host.substr(colon)) + " after host");
      if (!unescape(host, Part::kHost, plain, error_)) return false;
    }
    out_.host = arena_.keep_text(plain);
    return true;
  }

  bool bracketed(std::string_view host, std::string& out) {
    const std::size_t close = host.rfind(']');
    if (close == std::string_view::npos) return fail("missing ']' in host");
    const std::string_view port = host.substr(close + 1);
    if (!is_optional_port(port)) return fail("invalid port " + quoted(port) + " after host");
    const std::string_view name = host.substr(1, close - 1);
    const std::size_t zone = std::min(name.find("%25"), name.size());
    std::string address, zone_text;
    if (!unescape(name.substr(0, zone), Part::kHost, address, error_)) return false;
    if (!unescape(name.substr(zone), Part::kZone, zone_text, error_)) return false;
    address += zone_text;
    IpVal parsed;
    std::string problem;
    bool has_zone = false;
    if (!parse_address(address, parsed, has_zone, problem)) return fail("invalid host: " + problem);
    if (parsed.size == 4) return fail("invalid IP-literal");
    out = "[" + address + "]" + std::string(port);
    return true;
  }

  bool path(std::string_view text) {
    std::string plain;
    if (!unescape(text, Part::kPath, plain, error_)) return false;
    out_.path = arena_.keep_text(plain);
    const std::string escaped = escape(plain, Part::kPath);
    out_.escaped_path = escaped == text || !is_valid_path(text) ? arena_.keep_text(escaped) : text;
    return true;
  }

  Arena& arena_;
  UrlVal& out_;
  std::string& error_;
};

// url.Parse: empty, or the error.
std::string read_with_fragment(Arena& arena, std::string_view text, UrlVal& out) {
  std::string problem;
  const std::size_t mark = text.find('#');
  if (!UrlReader(arena, out, problem).read(text.substr(0, mark), false)) return "parse " + quoted(text.substr(0, mark)) + ": " + problem;
  if (mark == std::string_view::npos) return {};
  std::string fragment;
  if (!unescape(text.substr(mark + 1), Part::kFragment, fragment, problem)) return "parse " + quoted(text) + ": " + problem;
  out.fragment = arena.keep_text(fragment);
  return {};
}

}  // namespace

bool parse_url(Arena& arena, std::string_view text, UrlVal& out, std::string& error) {
  std::string problem;
  UrlVal request{};
  request.kind = OpaqueKind::kUrl;
  if (!UrlReader(arena, request, problem).read(text, true)) {
    error = "parse " + quoted(text) + ": " + problem;
    return false;
  }
  out = {};
  out.kind = OpaqueKind::kUrl;
  error = read_with_fragment(arena, text, out);
  return error.empty();
}

std::string url_problem(std::string_view text) {
  Arena arena;
  UrlVal url{};
  return read_with_fragment(arena, text, url);
}

std::string request_uri_problem(std::string_view text) {
  Arena arena;
  UrlVal url{};
  std::string problem;
  if (UrlReader(arena, url, problem).read(text, true)) return {};
  return "parse " + quoted(text) + ": " + problem;
}

bool unescape_query(std::string_view text, std::string& out) {
  std::string ignored;
  return unescape(text, Part::kQuery, out, ignored);
}

std::string url_text(const UrlVal& url) {
  std::string out;
  if (!url.scheme.empty()) out.append(url.scheme).push_back(':');
  if (!url.opaque_part.empty()) {
    out.append(url.opaque_part);
  } else {
    if (!url.host.empty() || url.has_user) {
      out.append("//");
      if (url.has_user) out.append(url.user).push_back('@');
      out.append(escape(url.host, Part::kHost));
    }
    out.append(url.escaped_path);
  }
  if (url.force_query || !url.query.empty()) out.append("?").append(url.query);
  if (!url.fragment.empty()) out.append("#").append(escape(url.fragment, Part::kFragment));
  return out;
}

}  // namespace backplane::cel_detail
