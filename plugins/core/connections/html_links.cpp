#include "connections/html_links.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <utility>
#include <vector>

namespace backplane::core {
namespace {

struct LinkAttribute {
  std::string_view element, attribute;
};
// HTML's attributes that hold URLs.
constexpr LinkAttribute kLinks[] = {
    {"a", "href"},          {"applet", "codebase"}, {"area", "href"},         {"audio", "src"},        {"base", "href"},
    {"blockquote", "cite"}, {"body", "background"}, {"button", "formaction"}, {"command", "icon"},     {"del", "cite"},
    {"embed", "src"},       {"form", "action"},     {"frame", "longdesc"},    {"frame", "src"},        {"head", "profile"},
    {"html", "manifest"},   {"iframe", "longdesc"}, {"iframe", "src"},        {"img", "longdesc"},     {"img", "src"},
    {"img", "usemap"},      {"input", "src"},       {"input", "usemap"},      {"input", "formaction"}, {"ins", "cite"},
    {"link", "href"},       {"object", "classid"},  {"object", "codebase"},   {"object", "data"},      {"object", "usemap"},
    {"q", "cite"},          {"script", "src"},      {"source", "src"},        {"video", "poster"},     {"video", "src"}};
// Elements whose content is text, even if it looks like tags.
constexpr std::array<std::string_view, 9> kRawElements = {"script", "style",   "textarea", "title",    "xmp",
                                                          "iframe", "noembed", "noframes", "plaintext"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool holds_link(std::string_view element, std::string_view attribute) {
  return std::any_of(std::begin(kLinks), std::end(kLinks), [&](const LinkAttribute& each) {
    return boost::algorithm::iequals(each.element, element) && boost::algorithm::iequals(each.attribute, attribute);
  });
}

// Returns the position after the tag at the beginning of `text`; npos if the end of the tag has not been received yet.
std::size_t end_of_tag(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '>') {
      return i + 1;
    } else if ((text[i] == '"' || text[i] == '\'') && text[i - 1] == '=') {
      quote = text[i];
    }
  }
  return std::string_view::npos;
}

std::string_view name_of(std::string_view tag) {
  std::size_t end = 1;
  while (end < tag.size() && !is_space(tag[end]) && tag[end] != '>' && tag[end] != '/') ++end;
  return tag.substr(1, end - 1);
}

// Iterates over the attributes of a tag.
class Attributes {
 public:
  explicit Attributes(std::string_view tag) : tag_(tag), at_(1 + name_of(tag).size()) {}
  std::string_view name;
  std::size_t begin = 0, size = 0;  // position and size of the value, without quotes

  bool next() {
    while (at_ < tag_.size() && (is_space(tag_[at_]) || tag_[at_] == '/')) ++at_;
    if (at_ >= tag_.size() || tag_[at_] == '>') return false;
    const std::size_t from = at_++;
    while (at_ < tag_.size() && !is_space(tag_[at_]) && tag_[at_] != '=' && tag_[at_] != '>' && tag_[at_] != '/') ++at_;
    name = tag_.substr(from, at_ - from);
    skip_space();
    begin = at_;
    size = 0;
    if (at_ < tag_.size() && tag_[at_] == '=') read_value();
    return true;
  }

 private:
  void skip_space() {
    while (at_ < tag_.size() && is_space(tag_[at_])) ++at_;
  }
  void read_value() {
    ++at_;
    skip_space();
    const char quote = at_ < tag_.size() ? tag_[at_] : '>';
    const bool quoted = quote == '"' || quote == '\'';
    begin = quoted ? ++at_ : at_;
    while (at_ < tag_.size() && (quoted ? tag_[at_] != quote : !is_space(tag_[at_]) && tag_[at_] != '>')) ++at_;
    size = at_ - begin;
    if (quoted && at_ < tag_.size()) ++at_;
  }

  const std::string_view tag_;
  std::size_t at_;
};

// A link up to its path: "scheme://host", "//host" or nothing.
struct Origin {
  std::string_view host;
  std::size_t size = 0;
  bool whole = false;  // the link has a scheme or a host
};

Origin origin_of(std::string_view link) {
  std::size_t at = 0;
  while (at < link.size() && (is_letter(link[at]) || (at > 0 && (link[at] == '+' || link[at] == '-' || link[at] == '.' ||
                                                                 (link[at] >= '0' && link[at] <= '9'))))) {
    ++at;
  }
  const bool scheme = at > 0 && at < link.size() && link[at] == ':';
  const std::size_t rest = scheme ? at + 1 : 0;
  if (!link.substr(rest).starts_with("//")) return {{}, rest, scheme};
  const auto end = std::min(link.find_first_of("/?#", rest + 2), link.size());
  return {link.substr(rest + 2, end - rest - 2), end, true};
}

}  // namespace

std::string clean_path(std::string_view path) {
  if (path.empty()) return {};
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  if (out.empty() || (path.ends_with('/') && !out.ends_with('/'))) out += '/';
  return out;
}

std::string rewrite_link(const LinkRules& rules, std::string_view link) {
  const Origin origin = origin_of(link);
  const std::string_view rest = link.substr(origin.size);
  const auto end = std::min(rest.find_first_of("?#"), rest.size());
  const std::string_view path = rest.substr(0, end);
  const bool other_host = !origin.host.empty() && origin.host != rules.backend && origin.host != rules.request_host;
  if (other_host || !path.starts_with('/') || (origin.whole && origin.host.empty())) return std::string(link);
  if (path.starts_with(rules.prefix)) return std::string(rest);
  return clean_path(rules.prefix + std::string(path)).append(rest.substr(end));
}

// ---- the text

std::string HtmlLinks::feed(std::string_view piece) {
  held_.erase(0, std::exchange(at_, 0));
  held_.append(piece);
  std::string out;
  while (!unread().empty() && (read_text(out) || read_markup(out))) {
  }
  return out;
}

std::string HtmlLinks::end() {
  std::string out(unread());
  held_.clear();
  at_ = 0;
  return out;
}

// Appends the text that precedes the next possible markup to `out`. Returns false if there is no such text.
bool HtmlLinks::read_text(std::string& out) {
  const std::string_view text = unread();
  std::size_t end = text.find('<');
  if (!raw_.empty()) {
    // Only the element's end tag ends the text.
    while (end != std::string_view::npos && text.size() - end >= raw_.size() + 2 &&
           !(text[end + 1] == '/' && boost::algorithm::iequals(text.substr(end + 2, raw_.size()), raw_))) {
      end = text.find('<', end + 1);
    }
  }
  end = std::min(end, text.size());
  out.append(text.substr(0, end));
  at_ += end;
  return end > 0;
}

// Reads a tag, a comment, or a single "<". Returns false if more input is needed.
bool HtmlLinks::read_markup(std::string& out) {
  const std::string_view text = unread();
  if (text.size() < 2) return false;
  std::size_t end = 1;
  bool rewrite = false;
  if (!raw_.empty() && text.size() < raw_.size() + 2) return false;
  if (text.starts_with("<!--") || std::string_view("<!--").starts_with(text.substr(0, 4))) {
    if (text.size() < 4) return false;
    const auto close = text.find("-->", 4);
    end = close == std::string_view::npos ? close : close + 3;
  } else if (text[1] == '/' || text[1] == '!' || text[1] == '?') {
    const auto close = text.find('>');
    end = close == std::string_view::npos ? close : close + 1;
  } else if (is_letter(text[1])) {
    end = end_of_tag(text);
    rewrite = end != std::string_view::npos;
  }
  if (end == std::string_view::npos) {
    if (text.size() <= kMaxTag) return false;
    end = text.size();
  }
  const std::string_view markup = text.substr(0, end);
  at_ += end;
  if (!raw_.empty()) raw_.clear();  // `markup` is the end tag of that element
  if (rewrite) {
    rewrite_tag(out, markup);
  } else {
    out.append(markup);
  }
  return true;
}

void HtmlLinks::rewrite_tag(std::string& out, std::string_view tag) {
  const std::string element = boost::algorithm::to_lower_copy(std::string(name_of(tag)));
  std::size_t done = 0;
  Attributes each(tag);
  while (each.next()) {
    if (each.size == 0 || !holds_link(element, each.name)) continue;
    out.append(tag.substr(done, each.begin - done));
    out.append(rewrite_link(rules_, tag.substr(each.begin, each.size)));
    done = each.begin + each.size;
  }
  out.append(tag.substr(done));
  const bool closed = tag.ends_with("/>");
  if (!closed && std::find(kRawElements.begin(), kRawElements.end(), element) != kRawElements.end()) raw_ = element;
}

}  // namespace backplane::core
