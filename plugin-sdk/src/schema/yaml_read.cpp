// YAML into JSON trees, as sigs.k8s.io/yaml does it.
#include <yaml-cpp/yaml.h>

#include "backplane/schema.hpp"
#include "schema/base64.hpp"
#include "schema/yaml_scalar.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Aliases may make a small text large: more nodes than this per document are refused, as go-yaml refuses excessive aliasing.
constexpr std::size_t kMaxNodes = 400000;

struct Refused {
  std::string message;
};

class Converter {
 public:
  Converter(json::storage_ptr storage, std::size_t text_size) : storage_(std::move(storage)), budget_(kMaxNodes + text_size) {}

  Value convert(const YAML::Node& node, std::size_t depth = 0) {
    if (budget_-- == 0) throw Refused{"yaml: document contains excessive aliasing"};
    if (depth > kMaxJsonDepth) throw Refused{"yaml: exceeded max depth"};
    if (node.IsScalar()) return scalar(node);
    if (node.IsSequence()) {
      Array out(storage_);
      out.reserve(node.size());
      for (const auto& item : node) out.push_back(convert(item, depth + 1));
      return Value(std::move(out));
    }
    if (!node.IsMap()) return Value(nullptr, storage_);
    Object out(storage_);
    out.reserve(node.size());
    std::vector<YAML::Node> merges;
    for (const auto& member : node) {
      if (is_merge(member.first)) {
        merges.push_back(member.second);
        continue;
      }
      const std::string key = key_of(member.first);
      const auto [slot, added] = out.insert_or_assign(key, convert(member.second, depth + 1));
      if (!added) note_duplicate(member.first, key);
    }
    for (const YAML::Node& merge : merges) merge_into(out, merge, depth);
    return Value(std::move(out));
  }

  const std::vector<std::string>& duplicates() const noexcept { return duplicates_; }

 private:
  static bool is_merge(const YAML::Node& key) { return key.IsScalar() && key.Tag() == "?" && key.Scalar() == "<<"; }

  Value scalar(const YAML::Node& node) const {
    const std::string& text = node.Scalar();
    const std::string& tag = node.Tag();
    if (tag == "?") return schema::resolve_plain(text, storage_);
    if (tag == "tag:yaml.org,2002:binary") {
      std::string bytes;
      if (schema::decode_go_base64(text, bytes)) throw Refused{"yaml: !!binary value contains invalid base64 data"};
      return Value(bytes, storage_);
    }
    const bool typed = tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float" || tag == "tag:yaml.org,2002:bool" ||
                       tag == "tag:yaml.org,2002:null";
    return typed ? schema::resolve_plain(text, storage_) : Value(text, storage_);
  }

  // Keys that are numbers or booleans become their JSON text.
  std::string key_of(const YAML::Node& node) const {
    if (!node.IsScalar()) {
      if (node.IsNull()) return "null";
      throw Refused{"unsupported map key of type: map, key: " + YAML::Dump(node)};
    }
    const Value key = scalar(node);
    return key.is_string() ? std::string(std::string_view(key.get_string())) : to_json(key);
  }

  // Members of a merged map that the map itself has not.
  void merge_into(Object& out, const YAML::Node& source, std::size_t depth) {
    if (source.IsSequence()) {
      for (const auto& one : source) merge_into(out, one, depth);
      return;
    }
    if (!source.IsMap()) throw Refused{"yaml: map merge requires map or sequence of maps as the value"};
    Value merged = convert(source, depth + 1);
    for (auto& member : merged.get_object()) {
      if (!out.contains(member.key())) out.emplace(member.key(), std::move(member.value()));
    }
  }

  void note_duplicate(const YAML::Node& key, const std::string& text) {
    duplicates_.push_back("  line " + std::to_string(key.Mark().line + 1) + ": key " + quoted(text) + " already set in map");
  }

  json::storage_ptr storage_;
  std::size_t budget_;
  std::vector<std::string> duplicates_;
};

// libyaml's words for the mistakes people make.
std::string parser_message(const YAML::Exception& error) {
  struct Words {
    std::string_view ours, theirs;
  };
  static constexpr Words kWords[] = {{"illegal map value", "mapping values are not allowed in this context"},
                                     {"end of map not found", "did not find expected key"},
                                     {"end of sequence not found", "did not find expected '-' indicator"},
                                     {"illegal block entry", "block sequence entries are not allowed in this context"},
                                     {"end of sequence flow not found", "did not find expected ',' or ']'"},
                                     {"end of map flow not found", "did not find expected ',' or '}'"},
                                     {"illegal EOF in scalar", "found unexpected end of stream"},
                                     {"unknown token", "found character that cannot start any token"},
                                     {"the referenced anchor is not defined", "unknown anchor referenced"}};
  std::string message = error.msg;
  for (const Words& words : kWords) {
    if (error.msg.starts_with(words.ours)) message = words.theirs;
  }
  return "yaml: line " + std::to_string(error.mark.line + 1) + ": " + message;
}

}  // namespace

Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report) {
  try {
    const YAML::Node document = YAML::Load(std::string(text));
    Converter converter(storage, text.size());
    Value tree = converter.convert(document);
    if (report && !converter.duplicates().empty()) {
      std::string problem = "yaml: unmarshal errors:";
      for (const std::string& duplicate : converter.duplicates()) problem += "\n" + duplicate;
      report->problems.push_back(std::move(problem));
    }
    return tree;
  } catch (const Refused& refused) {
    return bad_request("error converting YAML to JSON: " + refused.message);
  } catch (const YAML::Exception& error) {
    return bad_request("error converting YAML to JSON: " + parser_message(error));
  }
}

}  // namespace BACKPLANE_API
