#include <algorithm>

#include "engine/json_lines.hpp"
#include "plugin/descriptor.hpp"

namespace backplane {

namespace {

constexpr std::size_t kMaxListLength = 256;
constexpr std::size_t kMaxNameLength = 128;
constexpr std::size_t kMaxShownLength = 64;

// Reads members one by one and collects the errors.
class ManifestReader {
 public:
  // `root`: the value that was parsed from `text`.
  ManifestReader(std::string_view text, const Value& root, Findings& findings)
      : text_(text), root_(root), has_lines_(text.find('\n') != std::string_view::npos), findings_(findings) {}

  void wrong(std::string_view code, std::string field, std::string wanted, std::string found, std::string message) {
    const std::size_t line = line_in_json(text_, root_, field);
    wrong_at(line, code, std::move(field), std::move(wanted), std::move(found), std::move(message));
  }
  // A manifest of one line, such as one that backplane_add_plugin() has written, needs no line number.
  void wrong_at(std::size_t line, std::string_view code, std::string field, std::string wanted, std::string found, std::string message) {
    if (has_lines_) message += " (line " + std::to_string(line) + ")";
    findings_.push_back({code, Severity::kError, std::move(field), std::move(wanted), std::move(found), std::move(message),
                         "correct the manifest and build the plugin again"});
  }

  void refuse_duplicates() {
    for (DuplicateMember& each : duplicate_members(text_)) {
      wrong_at(each.line, finding_code::kBadMember, std::move(each.path), {}, {}, "is a duplicate member");
    }
  }

  std::string text(const Object& object, std::string_view key, const std::string& path) {
    const auto* value = find(object, key);
    if (!value) return {};
    if (const auto* text = value->if_string()) return std::string(*text);
    wrong(finding_code::kBadMember, path, "a string", kind_of(*value), "has the wrong type");
    return {};
  }

  std::string name(const Value& value, const std::string& path, bool wildcard) {
    const auto* text = value.if_string();
    if (!text) {
      wrong(finding_code::kBadMember, path, "a string", kind_of(value), "has the wrong type");
      return {};
    }
    if ((wildcard && *text == "*") || valid_name(*text)) return std::string(*text);
    wrong(finding_code::kBadName, path, "lower-case letters, digits, '-', '.', '/', ':'",
          "\"" + std::string(text->subview(0, kMaxNameLength)) + "\"", "is not a name");
    return {};
  }

  std::vector<std::string> names(const Object& object, std::string_view key, bool wildcard) {
    std::vector<std::string> list;
    const std::string path(key);
    each(object, key, [&](const Value& value, const std::string& at) {
      auto text = name(value, at, wildcard);
      if (!text.empty()) list.push_back(std::move(text));
    });
    return list;
  }

  template <class Function>
  void each(const Object& object, std::string_view key, Function&& function) {
    const auto* value = find(object, key);
    if (!value) return;
    const auto* array = value->if_array();
    if (!array || array->size() > kMaxListLength) {
      wrong(finding_code::kBadMember, std::string(key), "a list of at most 256", array ? std::to_string(array->size()) : kind_of(*value),
            array ? "is too long" : "has the wrong type");
      return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) function((*array)[i], std::string(key) + "[" + std::to_string(i) + "]");
  }

  // The value of `key`, valid or not, as text for a table cell.
  static std::string shown(const Object& object, std::string_view key) {
    const auto* value = find(object, key);
    if (!value) return {};
    auto text = value->is_string() ? std::string(value->get_string()) : to_json(*value);
    text.resize(std::min(text.size(), kMaxShownLength));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
    return text;
  }

  Version version(const Object& object, const std::string& path) {
    const auto text = this->text(object, "version", path);
    auto parsed = Version::parse(text);
    if (parsed.ok()) return std::move(parsed).value();
    wrong(finding_code::kBadVersion, path, "a semantic version", "\"" + text + "\"", "is not a version");
    return {};
  }

  void unknown_members(const Object& object, std::initializer_list<std::string_view> known, const std::string& prefix) {
    for (const auto& member : object) {
      const std::string_view key(member.key().data(), member.key().size());
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      wrong(finding_code::kUnknownMember, prefix + std::string(key), {}, {}, "is not a member this host knows");
    }
  }

  static std::string kind_of(const Value& value) {
    switch (value.kind()) {
      case json::kind::null:
        return "null";
      case json::kind::bool_:
        return "boolean";
      case json::kind::string:
        return "string";
      case json::kind::array:
        return "list";
      case json::kind::object:
        return "object";
      default:
        return "number";
    }
  }

  static bool valid_name(std::string_view text) {
    const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (text.empty() || text.size() > kMaxNameLength || !word(text.front()) || !word(text.back())) return false;
    return std::all_of(text.begin(), text.end(), [&](char c) { return word(c) || c == '-' || c == '.' || c == '/' || c == ':'; });
  }

 private:
  const std::string_view text_;
  const Value& root_;
  const bool has_lines_;
  Findings& findings_;
};

void read_provides(ManifestReader& reader, const Object& object, Descriptor& out) {
  reader.each(object, "provides", [&](const Value& value, const std::string& path) {
    if (const auto* entry = value.if_object()) {
      reader.unknown_members(*entry, {"name", "version"}, path + ".");
      const auto* name = find(*entry, "name");
      Capability capability{name ? reader.name(*name, path + ".name", false) : std::string(), out.version};
      if (!name) reader.wrong(finding_code::kBadMember, path + ".name", "a string", {}, "is missing");
      if (find(*entry, "version")) capability.version = reader.version(*entry, path + ".version");
      if (!capability.name.empty()) out.provides.push_back(std::move(capability));
      return;
    }
    auto name = reader.name(value, path, false);
    if (!name.empty()) out.provides.push_back({std::move(name), out.version});
  });
}

void read_requires(ManifestReader& reader, const Object& object, Descriptor& out) {
  reader.each(object, "requires", [&](const Value& value, const std::string& path) {
    const auto* entry = value.if_object();
    const auto* name = entry ? find(*entry, "name") : nullptr;
    if (!name) {
      reader.wrong(finding_code::kBadMember, path, "{\"name\", \"version\", \"optional\"}", ManifestReader::kind_of(value),
                   "must be an object with a name");
      return;
    }
    reader.unknown_members(*entry, {"name", "version", "optional"}, path + ".");
    Requirement requirement;
    requirement.name = reader.name(*name, path + ".name", false);
    if (find(*entry, "version")) {
      const auto text = reader.text(*entry, "version", path + ".version");
      auto range = VersionRange::parse(text);
      if (range.ok()) {
        requirement.range = std::move(range).value();
      } else {
        reader.wrong(finding_code::kBadRange, path + ".version", "a version range such as ^1.4", "\"" + text + "\"",
                     "is not a version range");
      }
    }
    if (const auto* optional = find(*entry, "optional")) {
      if (optional->is_bool()) {
        requirement.optional = optional->get_bool();
      } else {
        reader.wrong(finding_code::kBadMember, path + ".optional", "true or false", ManifestReader::kind_of(*optional),
                     "has the wrong type");
      }
    }
    if (!requirement.name.empty()) out.requires_.push_back(std::move(requirement));
  });
}

}  // namespace

std::optional<Descriptor> parse_manifest(std::string_view text, Findings& findings) {
  boost::system::error_code error;
  const auto value = json::parse(json::string_view(text.data(), text.size()), error);
  ManifestReader reader(text, value, findings);
  const auto* object = error ? nullptr : value.if_object();
  if (!object) {
    reader.wrong_at(error ? line_of_json_error(text) : 1, finding_code::kBadJson, "manifest", "a JSON object",
                    error ? error.message() : ManifestReader::kind_of(value), "the descriptor cannot be read");
    return std::nullopt;
  }
  reader.refuse_duplicates();
  reader.unknown_members(
      *object, {"name", "version", "license", "vendor", "description", "provides", "requires", "in_front_of", "behind", "conflicts"}, {});
  Descriptor out;
  out.json = std::string(text);
  if (const auto* name = find(*object, "name")) {
    out.name = reader.name(*name, "name", false);
  } else {
    reader.wrong(finding_code::kBadMember, "name", "a string", {}, "is missing");
  }
  out.version = reader.version(*object, "version");
  out.version_text = ManifestReader::shown(*object, "version");
  out.license = reader.text(*object, "license", "license");
  out.vendor = reader.text(*object, "vendor", "vendor");
  out.description = reader.text(*object, "description", "description");
  read_provides(reader, *object, out);
  read_requires(reader, *object, out);
  out.in_front_of = reader.names(*object, "in_front_of", true);
  out.behind = reader.names(*object, "behind", true);
  out.conflicts = reader.names(*object, "conflicts", false);
  if (out.name.empty()) return std::nullopt;
  return out;
}

}  // namespace backplane
