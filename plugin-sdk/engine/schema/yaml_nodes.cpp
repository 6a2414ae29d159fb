#include "schema/yaml_nodes.hpp"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "backplane/types/schema.hpp"

namespace backplane::schema {
namespace {

using Kind = YamlNode::Kind;

// go-yaml's bound on levels of either style.
constexpr std::size_t kMaxYamlDepth = 10000;
// libyaml visits every open [ and { at each token: this limit of the product bounds the time to about 0.1 s.
constexpr std::size_t kMaxFlowWork = std::size_t(1) << 26;
// libyaml compares every directive with all previous ones, and expands a tag by its directive in every node.
constexpr std::size_t kMaxDirectives = 64, kMaxTagBytes = std::size_t(32) << 20;
// The expanded size of aliases is counted up to this number.
constexpr std::uint64_t kEndless = std::uint64_t(1) << 40;

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// go-yaml's counters while it decodes, and its limits: most of a small document, and a tenth of a large one, may come from aliases.
class AliasBudget {
 public:
  void node() noexcept { ++decoded_; }
  void alias(std::uint64_t stands_for) noexcept {
    decoded_ += stands_for;
    aliased_ += stands_for;
  }
  bool exceeded() const noexcept {
    if (aliased_ <= 100 || decoded_ <= 1000) return false;
    return static_cast<double>(aliased_) / static_cast<double>(decoded_) > allowed(static_cast<double>(decoded_));
  }

 private:
  static double allowed(double decoded) noexcept {
    constexpr double kSmall = 400000, kLarge = 4000000;
    return 0.99 - 0.89 * (std::clamp(decoded, kSmall, kLarge) - kSmall) / (kLarge - kSmall);
  }

  std::uint64_t decoded_ = 1;  // The document itself.
  std::uint64_t aliased_ = 0;
};

class Event {
 public:
  ~Event() { yaml_event_delete(&event); }
  yaml_event_t event{};
};

std::size_t line_of_error(const yaml_parser_t& parser) noexcept {
  // go-yaml does not name the first line.
  if (parser.problem_mark.line != 0) return parser.problem_mark.line + (parser.error == YAML_SCANNER_ERROR ? 1 : 0);
  return parser.context_mark.line;
}

// Directives at the beginning of a text in any encoding: lines that begin with %, including text after other kinds of line breaks.
std::size_t directives(std::string_view text) {
  constexpr std::string_view kPassed(" \t\0\xEF\xBB\xBF\xFE\xFF\xC2\x85\xE2\x80\xA8\xA9", 13);
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    const std::size_t first = line.find_first_not_of(kPassed);
    if (first != line.npos && line[first] != '%' && line[first] != '#') break;
    for (std::size_t at = line.find('%'); at != line.npos; at = line.find('%', at + 1)) {
      const unsigned char before = at == 0 ? 0 : static_cast<unsigned char>(line[at - 1]);
      if (at == first || before == 0 || before >= 0x80) ++count;
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return count;
}

std::size_t tag_size(const yaml_event_t& event) noexcept {
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return view(event.data.scalar.tag).size();
    case YAML_SEQUENCE_START_EVENT:
      return view(event.data.sequence_start.tag).size();
    case YAML_MAPPING_START_EVENT:
      return view(event.data.mapping_start.tag).size();
    default:
      return 0;
  }
}

std::string words(std::size_t line, std::string_view problem) {
  std::string out = "yaml: ";
  if (line != 0) out += "line " + std::to_string(line) + ": ";
  return out.append(problem);
}

}  // namespace

// Turns events into nodes, without recursion.
class YamlNodeReader {
 public:
  explicit YamlNodeReader(std::string_view text) : text_(text), slashes_(text.find("\\/") != text.npos) {
    if (constexpr std::string_view kMark("\xEF\xBB\xBF"); text.starts_with(kMark)) seen_bytes_ = kMark.size();
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlNodeReader() { yaml_parser_delete(&parser_); }
  YamlNodeReader(const YamlNodeReader&) = delete;
  YamlNodeReader& operator=(const YamlNodeReader&) = delete;

  Result<YamlDocument> read() {
    while (!over_) {
      Event next;
      if (yaml_parser_parse(&parser_, &next.event) == 0) return bad_request(parser_error());
      if (std::optional<std::string> problem = take(next.event)) return bad_request(std::move(*problem));
    }
    if (refused_) return bad_request(std::move(*refused_));
    return std::move(document_);
  }

 private:
  struct Open {
    Kind kind;
    bool flow;
    bool at_key;
    std::uint32_t node;
    std::uint32_t last;
    std::uint64_t size;  // number of decodings of the node and of all nodes below it, with aliases followed
  };
  struct Anchor {
    std::uint32_t node = 0;
    std::uint64_t size = 0;  // 0: the node is still open.
  };

  std::string parser_error() const {
    return words(line_of_error(parser_), parser_.problem == nullptr ? "unknown problem parsing YAML content" : parser_.problem);
  }

  // Syntax errors end the reading at once; decoding errors are kept in refused_ until the end.
  std::optional<std::string> take(const yaml_event_t& event) {
    if ((tag_bytes_ += tag_size(event)) > kMaxTagBytes) return refused_.value_or(words(0, "the tags of the document are too long"));
    std::optional<std::string> problem;
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        problem = unknown_escape(event);
        scalar(event);
        break;
      case YAML_ALIAS_EVENT:
        problem = alias(event);
        break;
      case YAML_SEQUENCE_START_EVENT:
        problem = open(Kind::kList, event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, event, event.data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        problem = open(Kind::kMap, event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, event, event.data.mapping_start.anchor);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        close();
        break;
      case YAML_DOCUMENT_END_EVENT:
      case YAML_STREAM_END_EVENT:
        over_ = true;
        break;
      default:
        break;
    }
    if (problem) return problem;
    work_ += levels_[true];
    if (work_ > kMaxFlowWork) return refused_.value_or(words(0, "document is nested too deeply for its size"));
    return std::nullopt;
  }

  void refuse(std::string problem) {
    if (!refused_) refused_ = std::move(problem);
  }

  // Appends a node to the open container, unless the document has been refused.
  std::uint32_t add(YamlNode node, std::uint64_t size) {
    if (!refused_ && budget_.exceeded()) refuse(words(0, "document contains excessive aliasing"));
    if (!open_.empty()) {
      Open& parent = open_.back();
      parent.size = std::min(kEndless, parent.size + size);
      parent.at_key = !parent.at_key;
    }
    if (refused_) return 0;
    auto& nodes = document_.nodes_;
    nodes.push_back(node);
    const auto at = static_cast<std::uint32_t>(nodes.size() - 1);
    if (!open_.empty()) {
      Open& parent = open_.back();
      (parent.last == 0 ? nodes[parent.node].first : nodes[parent.last].next) = at;
      parent.last = at;
    }
    return at;
  }

  YamlNode node_of(Kind kind, const yaml_event_t& event) const {
    YamlNode node;
    node.kind = kind;
    node.line = static_cast<std::uint32_t>(event.start_mark.line);
    return node;
  }

  // libyaml counts characters.
  std::size_t byte_at(std::size_t character) {
    while (seen_characters_ < character && seen_bytes_ < text_.size()) {
      do {
        ++seen_bytes_;
      } while (seen_bytes_ < text_.size() && (static_cast<unsigned char>(text_[seen_bytes_]) & 0xC0) == 0x80);
      ++seen_characters_;
    }
    return seen_bytes_;
  }

  // "\/", which libyaml supports and go-yaml does not.
  std::optional<std::string> unknown_escape(const yaml_event_t& event) {
    if (!slashes_ || event.data.scalar.style != YAML_DOUBLE_QUOTED_SCALAR_STYLE) return std::nullopt;
    const std::size_t begin = byte_at(event.start_mark.index), end = byte_at(event.end_mark.index);
    std::size_t line = event.start_mark.line;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      if (text_[i] == '\n') ++line;
      if (text_[i] != '\\') continue;
      if (text_[i + 1] == '/') return words(line == 0 ? 0 : line + 1, "found unknown escape character");
      if (text_[++i] == '\n') ++line;
    }
    return std::nullopt;
  }

  void scalar(const yaml_event_t& event) {
    const auto& data = event.data.scalar;
    YamlNode node = node_of(Kind::kScalar, event);
    node.plain = data.plain_implicit != 0;
    node.text = document_.texts_.size();
    node.size = data.length;
    if (!refused_) document_.texts_.append(reinterpret_cast<const char*>(data.value), data.length);
    if (data.tag != nullptr && !refused_) {
      document_.tags_.emplace_back(view(data.tag));
      node.tag = static_cast<std::uint32_t>(document_.tags_.size());
    }
    const bool key = !open_.empty() && open_.back().kind == Kind::kMap && open_.back().at_key;
    const bool merge = key && document_.is_merge(node);
    if (!merge) budget_.node();
    const std::uint32_t at = add(node, merge ? 0 : 1);
    if (data.anchor != nullptr) anchors_[std::string(view(data.anchor))] = {at, 1};
  }

  std::optional<std::string> alias(const yaml_event_t& event) {
    const std::string name(view(event.data.alias.anchor));
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) return words(0, "unknown anchor '" + name + "' referenced");
    budget_.node();
    if (found->second.size == 0) refuse(words(0, "anchor '" + name + "' value contains itself"));
    budget_.alias(found->second.size);
    YamlNode node = node_of(Kind::kAlias, event);
    node.first = found->second.node;
    add(node, found->second.size + 1);
    return std::nullopt;
  }

  std::optional<std::string> open(Kind kind, bool flow, const yaml_event_t& event, const yaml_char_t* anchor) {
    const std::size_t line = event.start_mark.line;
    if (++levels_[flow] > kMaxYamlDepth) return words(line == 0 ? 0 : line + 1, "exceeded max depth of " + std::to_string(kMaxYamlDepth));
    if (open_.size() > kMaxJsonDepth) refuse("exceeded max depth");
    budget_.node();
    const std::uint32_t at = add(node_of(kind, event), 0);
    open_.push_back({kind, flow, true, at, 0, 1});
    if (anchor != nullptr) {
      const std::string name(view(anchor));
      anchors_[name] = {at, 0};
      names_of_open_.emplace_back(open_.size(), name);
    }
    return std::nullopt;
  }

  void close() {
    const Open done = open_.back();
    if (!names_of_open_.empty() && names_of_open_.back().first == open_.size()) {
      // The anchor may have been redefined since.
      Anchor& anchor = anchors_[names_of_open_.back().second];
      if (anchor.node == done.node) anchor.size = done.size;
      names_of_open_.pop_back();
    }
    open_.pop_back();
    --levels_[done.flow];
    if (!open_.empty()) open_.back().size = std::min(kEndless, open_.back().size + done.size);
  }

  yaml_parser_t parser_{};
  const std::string_view text_;
  const bool slashes_;  // the text has "\/" somewhere
  std::size_t seen_characters_ = 0, seen_bytes_ = 0;
  YamlDocument document_;
  AliasBudget budget_;
  std::vector<Open> open_;
  std::map<std::string, Anchor, std::less<>> anchors_;
  std::vector<std::pair<std::size_t, std::string>> names_of_open_;  // Names of open anchored containers, with their level.
  std::size_t levels_[2] = {};                                      // open containers in block style and in flow style
  std::size_t work_ = 0;
  std::size_t tag_bytes_ = 0;
  std::optional<std::string> refused_;
  bool over_ = false;
};

bool YamlDocument::is_merge(const YamlNode& key) const noexcept {
  return key.kind == Kind::kScalar && text(key) == "<<" && (key.plain || tag(key) == "tag:yaml.org,2002:merge");
}

Result<YamlDocument> YamlDocument::read(std::string_view text) {
  if (directives(text) > kMaxDirectives) return bad_request(words(0, "the document has too many directives"));
  return YamlNodeReader(text).read();
}

}  // namespace backplane::schema
