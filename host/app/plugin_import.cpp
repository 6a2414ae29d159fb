#include "app/plugin_import.hpp"

#include <algorithm>
#include <array>

#include "app/plugin_template.hpp"
#include "app/sample_object.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/group_check.hpp"
#include "endpoints/respond.hpp"
#include "engine/document_check.hpp"

namespace backplane {
namespace {

// Keywords that other validators ignore too, or that structural documents do not have.
constexpr std::array<std::string_view, 10> kWithoutEffect = {"$schema",           "additionalItems", "definitions", "dependencies",
                                                             "deprecated",        "externalDocs",    "format",      "id",
                                                             "patternProperties", "readOnly"};

bool may_be_left_out(std::string_view word) {
  return word.starts_with("x-") || std::find(kWithoutEffect.begin(), kWithoutEffect.end(), word) != kWithoutEffect.end();
}

// Removes the keywords in kWithoutEffect and x-* that structural documents must not have. The build of the plugin reports other problems.
std::vector<std::string> remove_refused(Value& document, const std::string& file) {
  std::vector<std::string> notes;
  const CarriedDocument carried{file, to_json(document)};
  for (const DocumentProblem& problem : check_documents({&carried, 1}, kit::problem_of_group)) {
    const auto slash = problem.pointer.rfind('/');
    if (slash == std::string::npos || !may_be_left_out(std::string_view(problem.pointer).substr(slash + 1))) continue;
    boost::system::error_code error;
    Value* parent = document.find_pointer(problem.pointer.substr(0, slash), error);
    if (parent == nullptr || !parent->is_object()) continue;
    erase_member(parent->get_object(), std::string_view(problem.pointer).substr(slash + 1));
    notes.push_back("left out: " + problem.pointer + ": " + problem.message);
  }
  return notes;
}

std::string definition_name(const ImportedKind& kind, const std::string& version) {
  return reversed_domain(kind.group) + "." + version + "." + kind.kind;
}

Value type_document(const ImportedKind& kind, const ImportedKind::Version& version) {
  Object type;
  type["x-kubernetes-group-version-kind"] = Array{Object{{"group", kind.group}, {"version", version.name}, {"kind", kind.kind}}};
  for (const auto& [word, value] : version.schema) type[word] = value;
  type["type"] = "object";
  Object& properties = ensure_object(type, "properties");
  for (const char* member : {"apiVersion", "kind"}) properties[member] = Object{{"type", "string"}};
  properties["metadata"] = Object{{"type", "object"}};
  return Object{{"x-backplane-mode", "structural"}, {"definitions", Object{{definition_name(kind, version.name), std::move(type)}}}};
}

Object group_document(const ImportedKind& kind, const std::vector<ImportedKind::Version>& in_order) {
  Object row{{"resource", kind.resource}, {"kind", kind.kind}, {"storagePrefix", kind.group + "/" + kind.resource}};
  for (const auto& [member, value] : kind.facts) row[member] = value;
  if (kind.versions.size() > 1) {
    row["sameForm"] = true;
    for (const auto& version : kind.versions) ensure_array(row, "versions").emplace_back(version.name);
  }
  Array versions;
  for (const auto& version : in_order) versions.push_back(Object{{"name", version.name}});
  return {{"group", kind.group}, {"versions", std::move(versions)}, {"kinds", Array{std::move(row)}}};
}

std::string types_file(const ImportedKind& kind, const std::string& version) {
  return kind.resource + (kind.versions.size() > 1 ? "_" + version : "") + ".json";
}

std::string build_file(const std::string& name, const std::vector<std::string>& types) {
  std::string out = "cmake_minimum_required(VERSION 3.25)\nproject(" + name + " LANGUAGES CXX)\n";
  out += "find_package(BackplanePluginSdk 0.1 REQUIRED)\nbackplane_add_plugin(" + name + " MANIFEST plugin.json GROUP group.json SCHEMAS";
  for (const std::string& file : types) out += " " + file;
  return out + ")\n";
}

// Adds the member that /scale changes, because /scale of an object without this member is an error.
void add_replicas(const ImportedKind& kind, Object& object) {
  const std::string_view path = get_string_path(kind.facts, "scale.specReplicas");
  if (path.empty() || find_path(object, path) != nullptr) return;
  Object* parent = &object;
  std::string_view rest = path;
  for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    parent = &ensure_object(*parent, rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  (*parent)[rest] = 1;
}

// The objects of example.yaml: one of each version.
std::string examples(const ImportedKind& kind, const std::vector<Value>& types, const std::vector<ImportedKind::Version>& in_order,
                     std::vector<std::string>& notes) {
  std::string out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const GroupVersionKind gvk{kind.group, in_order[i].name, kind.kind};
    SampleObject sample = sample_of_type(gvk, to_json(types[i]), definition_name(kind, in_order[i].name));
    add_replicas(kind, sample.object);
    out += (i == 0 ? "" : "---\n") + endpoints::yaml_of(to_json(sample.object));
    for (const std::string& problem : sample.problems) notes.push_back("example.yaml: " + problem);
  }
  return out;
}

}  // namespace

Result<ImportedPlugin> plugin_of(const std::string& name, ImportedKind kind) {
  const NewPlugin plugin{name, kind.group, kind.kind, kind.resource};
  if (Status status = check_names(plugin); !status.ok()) return status;
  std::vector<ImportedKind::Version> in_order = kind.versions;
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return version_precedes(a.name, b.name); });
  ImportedPlugin out;
  std::vector<std::string> type_files;
  std::vector<Value> types;
  for (const auto& version : in_order) {
    type_files.push_back(types_file(kind, version.name));
    Value& document = types.emplace_back(type_document(kind, version));
    if (find_path(version.schema, "properties.metadata.properties") != nullptr)
      out.notes.push_back(type_files.back() + ": left out: the rules for metadata: write them in Strategy::validate()");
    for (std::string& note : remove_refused(document, type_files.back())) out.notes.push_back(type_files.back() + ": " + note);
    out.files[type_files.back()] = pretty_json(to_json(document));
  }
  out.files["group.json"] = pretty_json(to_json(group_document(kind, in_order)));
  out.files["plugin.json"] = manifest_of(plugin);
  out.files["CMakeLists.txt"] = build_file(name, type_files);
  out.files["example.yaml"] = examples(kind, types, in_order, out.notes);
  return out;
}

}  // namespace backplane
