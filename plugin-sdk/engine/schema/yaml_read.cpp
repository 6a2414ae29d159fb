// Converts YAML to JSON trees like sigs.k8s.io/yaml.
#include <cmath>
#include <cstdio>
#include <utility>

#include "backplane/types/schema.hpp"
#include "schema/yaml_nodes.hpp"
#include "schema/yaml_scalar.hpp"
#include "text/base64.hpp"

namespace backplane BACKPLANE_API {
namespace {

using schema::YamlDocument;
using schema::YamlNode;
using Kind = YamlNode::Kind;

constexpr std::string_view kStandard = "tag:yaml.org,2002:";

struct Refused {
  std::string message;
};

// Numbers are converted through JSON's texts: one without a fraction becomes an integer.
void make_whole(Value& value) {
  const double* number = value.if_double();
  if (number == nullptr || *number != std::trunc(*number) || std::abs(*number) >= 9.2e18) return;
  value = static_cast<std::int64_t>(*number);
}

std::string_view kind_word(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::null:
      return "!!null";
    case json::kind::bool_:
      return "!!bool";
    case json::kind::int64:
    case json::kind::uint64:
      return "!!int";
    case json::kind::double_:
      return "!!float";
    default:
      return "!!str";
  }
}

// A value as Go prints it with %#v.
void append_go_text(std::string& out, const Value& value) {
  const char* comma = "";
  switch (value.kind()) {
    case json::kind::null:
      out += "interface {}(nil)";
      return;
    case json::kind::uint64: {
      char digits[19];
      std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value.get_uint64()));
      out += digits;
      return;
    }
    case json::kind::string:
      out += quoted(std::string_view(value.get_string()));
      return;
    case json::kind::array:
      out += "[]interface {}{";
      for (const Value& item : value.get_array()) append_go_text(out.append(std::exchange(comma, ", ")), item);
      out += '}';
      return;
    case json::kind::object:
      out += "map[interface {}]interface {}{";
      for (const auto& member : value.get_object()) {
        out.append(std::exchange(comma, ", ")).append(quoted(std::string_view(member.key()))).append(":");
        append_go_text(out, member.value());
      }
      out += '}';
      return;
    default:
      out += to_json(value);
  }
}

std::string go_text(const Value& value) {
  std::string out;
  append_go_text(out, value);
  return out;
}

// The maximal total size of a document's texts, including repetitions by aliases.
constexpr std::size_t kMaxTextBytes = std::size_t(32) << 20;

class Converter {
 public:
  Converter(const YamlDocument& document, json::storage_ptr storage) : document_(document), storage_(std::move(storage)) {}

  // Aliases may add levels to the document.
  Value convert(const YamlNode& given, std::size_t depth = 0) {
    if (depth > kMaxJsonDepth) throw Refused{"exceeded max depth"};
    const YamlNode& node = document_.target(given);
    if (node.kind == Kind::kScalar) {
      if ((text_bytes_ += node.size) > kMaxTextBytes) throw Refused{"yaml: document contains excessive aliasing"};
      return scalar(node);
    }
    if (node.kind == Kind::kMap) {
      Object out(storage_);
      fill(out, node, depth);
      return Value(std::move(out));
    }
    Array out(storage_);
    for (std::uint32_t at = node.first; at != 0; at = document_[at].next) out.push_back(convert(document_[at], depth + 1));
    return Value(std::move(out));
  }

  std::vector<std::string>& duplicates() noexcept { return duplicates_; }

 private:
  // The last of several equal keys wins; merged members are at the place of the merge.
  void fill(Object& out, const YamlNode& map, std::size_t depth) {
    for (std::uint32_t at = map.first; at != 0; at = document_[document_[at].next].next) {
      const YamlNode& key = document_[at];
      const YamlNode& value = document_[key.next];
      if (document_.is_merge(key)) {
        merge(out, value, depth);
        continue;
      }
      const Value name = key_of(key, depth);
      Value converted = convert(value, depth + 1);
      const auto [slot, added] = out.insert_or_assign(key_text(name, converted), std::move(converted));
      if (!added) duplicates_.push_back("line " + std::to_string(value.line + 1) + ": key " + go_text(name) + " already set in map");
    }
  }

  Value scalar(const YamlNode& node) const {
    const std::string_view text = document_.text(node);
    std::string_view tag = document_.tag(node);
    if (tag.empty()) {
      if (!node.plain) return Value(text, storage_);
      return plain(text);
    }
    if (!tag.starts_with(kStandard)) return Value(text, storage_);
    tag.remove_prefix(kStandard.size());
    if (tag == "binary") {
      std::string bytes;
      if (schema::decode_go_base64(text, bytes)) throw Refused{"yaml: !!binary value contains invalid base64 data"};
      return Value(bytes, storage_);
    }
    const bool typed = tag == "int" || tag == "float" || tag == "bool" || tag == "null";
    return typed ? tagged(text, tag) : Value(text, storage_);
  }

  Value plain(std::string_view text) const {
    if (schema::is_special_float(text)) throw Refused{"json: unsupported value: " + schema::go_special_float(text)};
    Value out = schema::resolve_plain(text, storage_);
    make_whole(out);
    return out;
  }

  Value tagged(std::string_view text, std::string_view tag) const {
    const Value resolved = schema::is_special_float(text) ? Value(0.5) : schema::resolve_plain(text, storage_);
    const std::string_view word = kind_word(resolved);
    const bool widened = tag == "float" && word == "!!int" && resolved.is_int64();
    if (word.substr(2) != tag && !widened) {
      throw Refused{"yaml: cannot decode " + std::string(word) + " `" + std::string(text) + "` as a !!" + std::string(tag)};
    }
    return plain(text);
  }

  // Numbers as keys differ by their text: 1 and 1.0 are two keys.
  Value key_of(const YamlNode& given, std::size_t depth) {
    const YamlNode& node = document_.target(given);
    const bool plain = node.kind == Kind::kScalar && (node.plain || document_.tag(node) == "tag:yaml.org,2002:float");
    const std::string_view text = plain ? document_.text(node) : std::string_view();
    if (schema::is_special_float(text)) return Value(schema::key_of_special_float(text), storage_);
    Value key = convert(node, depth + 1);
    if (plain && key.is_number()) key = schema::resolve_plain(text, storage_);
    if (key.is_structured()) throw Refused{"yaml: invalid map key: " + go_text(key)};
    return key;
  }

  // Keys that are numbers or booleans become their texts.
  static std::string key_text(const Value& key, const Value& value) {
    if (key.is_string()) return std::string(std::string_view(key.get_string()));
    if (key.is_double()) return schema::key_of_float(key.get_double());
    if (!key.is_null() && !key.is_uint64()) return to_json(key);
    const std::string of = key.is_null() ? "%!s(<nil>), key: <nil>" : "uint64, key: " + go_text(key);
    throw Refused{"unsupported map key of type: " + of + ", value: " + (value.is_null() ? "<nil>" : go_text(value))};
  }

  // Of several merged maps the first one wins.
  void merge(Object& out, const YamlNode& source, std::size_t depth) {
    if (source.kind != Kind::kList) return merge_one(out, source, depth);
    std::vector<const YamlNode*> maps;
    for (std::uint32_t at = source.first; at != 0; at = document_[at].next) maps.push_back(&document_[at]);
    for (auto map = maps.rbegin(); map != maps.rend(); ++map) merge_one(out, **map, depth);
  }

  void merge_one(Object& out, const YamlNode& source, std::size_t depth) {
    const YamlNode& map = document_.target(source);
    if (map.kind != Kind::kMap) throw Refused{"yaml: map merge requires map or sequence of maps as the value"};
    if (depth > kMaxJsonDepth) throw Refused{"exceeded max depth"};
    fill(out, map, depth + 1);
  }

  const YamlDocument& document_;
  json::storage_ptr storage_;
  std::vector<std::string> duplicates_;
  std::size_t text_bytes_ = 0;
};

}  // namespace

Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report) {
  const Result<YamlDocument> document = YamlDocument::read(text);
  if (!document.ok()) return document.status();
  if (document->empty()) return Value(nullptr, storage);
  try {
    Converter converter(*document, storage);
    Value tree = converter.convert(document->root());
    if (report) {
      for (std::string& duplicate : converter.duplicates()) report->problems.push_back(std::move(duplicate));
    }
    return tree;
  } catch (const Refused& refused) {
    return bad_request(refused.message);
  }
}

}  // namespace BACKPLANE_API
