#include "backplane/kit/group_document.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "backplane/kit/group_check.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/api_lifecycle.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/json_reading.hpp"
#include "document_reader.hpp"
#include "document_table.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

Value show_count(const Value* found, std::int64_t) {
  return found != nullptr && found->is_array() ? static_cast<std::int64_t>(found->get_array().size()) : std::int64_t{0};
}

const Printer* kit_printer(std::string_view name) {
  static const std::map<std::string_view, Printer> kPrinters = {
      {"entries", print_entries}, {"labels", show_labels}, {"selector", show_selector},
      {"number", show_number},    {"count", show_count},   {"since", show_age},
  };
  const auto found = kPrinters.find(name);
  return found == kPrinters.end() ? nullptr : &found->second;
}

WarnOf kit_warning(std::string_view name) {
  return name == "ip" ? warn_of_ip : name == "cidr" ? warn_of_cidr : name == "wholeBytes" ? warn_of_fraction : nullptr;
}

NameRule name_rule_of(std::string_view word, const DocumentReader& in) {
  static constexpr std::array<std::pair<std::string_view, NameRule>, 4> kRules = {{{"subdomain", NameRule::kDnsSubdomain},
                                                                                   {"label", NameRule::kDnsLabel},
                                                                                   {"label1035", NameRule::kDns1035Label},
                                                                                   {"pathSegment", NameRule::kPathSegment}}};
  const auto* found = std::find_if(kRules.begin(), kRules.end(), [&](const auto& row) { return row.first == word; });
  in.expect(found != kRules.end(), "nameRule", "subdomain, label, label1035 or pathSegment");
  return found->second;
}

bool is_column_type(std::string_view type) {
  return type == "string" || type == "integer" || type == "number" || type == "boolean" || type == "date";
}

using Lifecycles = std::map<std::string, ApiLifecycle>;                      // by version
using FieldLabels = std::map<std::string, std::vector<Scheme::FieldLabel>>;  // by version

class Reading {
 public:
  // `any_code`: unknown names of printers and checks are valid, because GroupCode is not available.
  explicit Reading(const GroupCode& code, bool any_code = false) : code_(code), any_code_(any_code) {}

  GroupDocument document(const Value& value) {
    DocumentReader in(value, "");
    in.text("group", out_.group);
    in.number("priority", out_.priority);
    const Array& versions = in.list("versions");
    for (std::size_t i = 0; i < versions.size(); ++i) version(versions[i], at("versions", i));
    in.expect(!versions.empty(), "versions", "there");
    const Array& kinds = in.list("kinds");
    for (std::size_t i = 0; i < kinds.size(); ++i) kind(kinds[i], at("kinds", i));
    in.refuse_others();
    refuse_unused_code();
    return std::move(out_);
  }

 private:
  void version(const Value& value, std::string path) {
    DocumentReader in(value, std::move(path));
    GroupDocument::Version version{in.required_text("name")};
    in.number("priority", version.priority);
    in.refuse_others();
    out_.versions.push_back(std::move(version));
  }

  void kind(const Value& value, std::string path) {
    DocumentReader in(value, std::move(path));
    KindRow row;
    row.resource = in.required_text("resource");
    row.kind = in.required_text("kind");
    in.texts("shortNames", row.short_names);
    in.texts("categories", row.categories);
    in.text("storagePrefix", row.storage_prefix);
    in.text("deprecationWarning", row.deprecation_warning);
    in.texts("statusKeeps", row.status_keeps);
    in.flag("sameForm", row.same_form);
    facts(in, row.facts);
    scale(in, row);
    add_code(row);
    std::optional<JsonPath> rows_by;
    if (const Value* path = in.take("rowsBy")) rows_by = documents::path_of(*path, "rowsBy", in);
    if (!cells_.empty() || rows_by) {
      row.facts.table =
          documents::document_table(row.facts.columns, row.facts.row_conditions, std::exchange(cells_, {}), std::move(rows_by));
    }
    std::vector<std::string> versions;
    in.texts("versions", versions);
    if (versions.empty()) versions.push_back(out_.versions.front().name);
    for (const std::string& name : versions) {
      const bool known = std::any_of(out_.versions.begin(), out_.versions.end(), [&](const auto& each) { return each.name == name; });
      in.expect(known, "versions", "versions of the group");
    }
    if (const Value* stored = in.take("storedAs")) row.stored_kind = stored_as(*stored, in.path_of("storedAs"));
    const auto labels = field_labels(in, versions);
    const auto lives = lifecycles(in, versions);
    in.refuse_others();
    add_rows(row, versions, labels, lives);
  }

  void facts(DocumentReader& in, KindFacts& facts) {
    const std::array<std::pair<std::string_view, bool*>, 16> flags = {{{"namespaced", &facts.namespaced},
                                                                       {"createOnUpdate", &facts.create_on_update},
                                                                       {"unconditionalUpdate", &facts.unconditional_update},
                                                                       {"generation", &facts.generation},
                                                                       {"status", &facts.status},
                                                                       {"statusOnCreate", &facts.status_on_create},
                                                                       {"orphansDependents", &facts.orphans_dependents},
                                                                       {"returnsDeleted", &facts.returns_deleted},
                                                                       {"hasTables", &facts.has_tables},
                                                                       {"hasDependents", &facts.has_dependents},
                                                                       {"deletesCollections", &facts.deletes_collections},
                                                                       {"rechecksMetadataChange", &facts.rechecks_metadata_change},
                                                                       {"rechecksMetadata", &facts.rechecks_metadata},
                                                                       {"rechecksRules", &facts.rechecks_rules},
                                                                       {"anyFinalizerNames", &facts.any_finalizer_names},
                                                                       {"metadataLast", &facts.metadata_last}}};
    for (const auto& [key, flag] : flags) in.flag(key, *flag);
    std::string rule;
    in.text("nameRule", rule);
    if (!rule.empty()) facts.name_rule = name_rule_of(rule, in);
    if (const Value* status = in.take("initialStatus")) {
      in.expect(status->is_object(), "initialStatus", "an object");
      facts.initial_status = *status;
    }
    const Array& warnings = in.list("warnings");
    for (std::size_t i = 0; i < warnings.size(); ++i) facts.warnings.push_back(warning(warnings[i], at(in.path_of("warnings"), i)));
    const Array& fields = in.list("selectable");
    for (std::size_t i = 0; i < fields.size(); ++i) facts.selectable.push_back(selectable(fields[i], at(in.path_of("selectable"), i)));
    const Array& columns = in.list("columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::optional<documents::DocumentCell> cell;
      facts.columns.push_back(column(columns[i], at(in.path_of("columns"), i), cell));
      if (cell) cells_.emplace(i, std::move(*cell));
    }
  }

  static SelectableField selectable(const Value& value, std::string path) {
    if (value.is_string()) return {std::string(text_of(value)), std::string(text_of(value)), ""};
    DocumentReader in(value, std::move(path));
    SelectableField field{in.required_text("label"), in.required_text("path"), ""};
    in.text("default", field.default_value);
    in.refuse_others();
    return field;
  }

  TableColumn column(const Value& value, std::string path, std::optional<documents::DocumentCell>& cell) {
    if (text_of(value) == "name") return name_column();
    if (text_of(value) == "age") return age_column();
    DocumentReader in(value, std::move(path));
    TableColumn column;
    column.name = in.required_text("name");
    in.text("type", column.type);
    in.expect(is_column_type(column.type), "type", "string, integer, number, boolean or date");
    in.text("format", column.format);
    column.description = in.required_text("description");
    in.number("priority", column.priority);
    column_paths(in, column);
    cell = documents::DocumentCell::read(in);
    const bool has_parts = cell && !cell->parts.empty();
    in.expect(!has_parts || column.path.empty(), "path", "left out if parts is there");
    if (!has_parts) column_join(in, column);
    const Value* absent = in.take("absent");
    const Value* empty = in.take("empty");
    in.expect(absent == nullptr || empty == nullptr, "absent", "left out if empty is there");
    column.absent_if_empty = empty != nullptr;
    if (absent != nullptr || empty != nullptr) {
      column.absent = absent != nullptr ? *absent : *empty;
    } else if (!column.path.empty()) {
      column.absent = "";
    }
    std::string print;
    in.text("print", print);
    if (!print.empty()) set_printer(column, print, in);
    in.refuse_others();
    return column;
  }

  static void column_paths(DocumentReader& in, TableColumn& column) {
    const Value* path = in.take("path");
    // An invalid path is refused, because it would not match anything in any object.
    for (const Value& each : path == nullptr ? Array() : path->is_array() ? path->get_array() : Array{*path}) {
      in.expect(!text_of(each).empty() && JsonPath::parse(text_of(each)).has_value(), "path", "a path that begins with a dot (.spec.name)");
    }
    if (path != nullptr && path->is_array()) {
      in.texts("path", column.fallbacks);
      in.expect(!column.fallbacks.empty(), "path", "a path or several");
      column.path = column.fallbacks.front();
      column.fallbacks.erase(column.fallbacks.begin());
    } else {
      in.text("path", column.path);
    }
  }

  static void column_join(DocumentReader& in, TableColumn& column) {
    const Value* join = in.take("join");
    if (join == nullptr) return;
    in.expect(join->is_string() && !column.path.empty(), "join", "a text, with a path");
    column.join = std::string(text_of(*join));
  }

  WarningRow warning(const Value& value, std::string path) {
    DocumentReader in(value, std::move(path));
    WarningRow row{places(in.required_text("path"), "path", in)};
    in.text("text", row.text);
    in.text("warning", row.warning);
    std::string word;
    in.text("check", word);
    if (!word.empty()) {
      const auto own = code_.warnings.find(word);
      row.check = own != code_.warnings.end() ? own->second : kit_warning(word);
      in.expect(row.check != nullptr || any_code_, "check", "the name of a check, not " + word);
    }
    in.expect(!row.text.empty() || !row.warning.empty() || row.check != nullptr || any_code_, "text", "there, or warning, or check");
    conditions(in, "when", row.when);
    conditions(in, "unless", row.unless);
    word.clear();
    in.text("only", word);
    in.expect(word.empty() || word == "create" || word == "new", "only", "create or new");
    row.on_create = word == "create";
    row.when_new = word == "new";
    in.refuse_others();
    return row;
  }

  static FieldPlaces places(std::string_view text, std::string_view key, const DocumentReader& in) {
    try {
      return FieldPlaces(text);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(in.path_of(key) + " is " + error.what());
    }
  }

  static void conditions(DocumentReader& in, std::string_view key, std::vector<WarningRow::Conditions>& out) {
    const Value* value = in.take(key);
    if (value == nullptr) return;
    const Array sets = value->is_array() ? value->get_array() : Array{*value};
    for (const Value& set : sets) {
      in.expect(set.is_object(), key, "an object or a list of them");
      WarningRow::Conditions& all = out.emplace_back();
      for (const auto& [path, values] : set.get_object()) {
        WarningRow::Condition& condition = all.emplace_back(WarningRow::Condition{places(path, key, in), {}});
        if (values.is_array()) {
          condition.values.assign(values.get_array().begin(), values.get_array().end());
        } else {
          condition.values.push_back(values);
        }
      }
    }
  }

  void set_printer(TableColumn& column, const std::string& name, const DocumentReader& in) {
    const auto own = code_.printers.find(name);
    const Printer* printer = own != code_.printers.end() ? &own->second : kit_printer(name);
    if (printer == nullptr && any_code_) return;
    in.expect(printer != nullptr, "print", "the name of a printer, not " + name);
    column.print = printer->found;
    column.cells = printer->cells;
    in.expect(column.path.empty() == (printer->cells != nullptr), "path",
              printer->cells != nullptr ? "left out: the printer sees the whole object" : "there: the printer shows what stands at it");
  }

  static void scale(DocumentReader& in, KindRow& row) {
    const Value* value = in.take("scale");
    if (value == nullptr) return;
    DocumentReader paths(*value, in.path_of("scale"));
    Host::ScalePaths scale;
    paths.text("specReplicas", scale.spec_replicas);
    paths.text("statusReplicas", scale.status_replicas);
    paths.text("selector", scale.selector);
    paths.refuse_others();
    row.scale = std::move(scale);
  }

  void add_code(KindRow& row) {
    const auto found = code_.kinds.find(row.kind);
    if (found == code_.kinds.end()) return;
    used_.insert(row.kind);
    const KindCode& code = found->second;
    row.make = code.make;
    row.make_status = code.make_status;
    row.facts.row_conditions = code.row_conditions;
    row.hooks = code.hooks;
    row.time_to_live = code.time_to_live;
    row.converter = code.converter;
  }

  static GroupVersionKind stored_as(const Value& value, std::string path) {
    DocumentReader in(value, std::move(path));
    GroupVersionKind kind;
    in.text("group", kind.group);
    kind.version = in.required_text("version");
    kind.kind = in.required_text("kind");
    in.refuse_others();
    return kind;
  }

  static FieldLabels field_labels(DocumentReader& in, const std::vector<std::string>& versions) {
    FieldLabels out;
    const Value* all = in.take("fieldLabels");
    if (all == nullptr) return out;
    DocumentReader by_version(*all, in.path_of("fieldLabels"));
    for (const std::string& version : versions) {
      const Value* labels = by_version.take(version);
      if (labels == nullptr) continue;
      by_version.expect(labels->is_object(), version, "an object");
      for (const auto& label : labels->get_object()) {
        out[version].push_back({std::string(label.key()), std::string(text_of(label.value()))});
      }
    }
    by_version.refuse_others();
    return out;
  }

  static Lifecycles lifecycles(DocumentReader& in, const std::vector<std::string>& versions) {
    Lifecycles out;
    const Value* all = in.take("lifecycle");
    if (all == nullptr) return out;
    DocumentReader by_version(*all, in.path_of("lifecycle"));
    for (const std::string& version : versions) {
      if (const Value* life = by_version.take(version)) out[version] = lifecycle(*life, by_version.path_of(version));
    }
    by_version.refuse_others();
    return out;
  }

  static ApiLifecycle lifecycle(const Value& value, std::string path) {
    DocumentReader in(value, std::move(path));
    ApiLifecycle out;
    const std::array<std::pair<std::string_view, ApiRelease*>, 3> releases = {
        {{"introduced", &out.introduced}, {"deprecated", &out.deprecated}, {"removed", &out.removed}}};
    for (const auto& [key, release] : releases) {
      std::string text;
      in.text(key, text);
      if (text.empty()) continue;
      const auto read = parse_release(text);
      in.expect(read.has_value(), key, "a release such as 1.36");
      *release = *read;
    }
    std::string replacement;
    in.text("replacement", replacement);
    if (!replacement.empty()) {
      const auto kind = parse_kind(replacement);
      in.expect(kind.has_value(), "replacement", "a kind such as apps/v1 Deployment");
      out.replacement = *kind;
    }
    in.refuse_others();
    return out;
  }

  void add_rows(const KindRow& row, const std::vector<std::string>& versions, const FieldLabels& labels, const Lifecycles& lives) {
    const bool foreign = !row.stored_kind.kind.empty();
    const auto code = code_.kinds.find(row.kind);
    for (const std::string& name : versions) {
      KindRow& added = out_.kinds.emplace_back(row);
      added.version = name;
      if (const auto found = lives.find(name); found != lives.end() && found->second.deprecated_in(kApiRelease)) {
        added.deprecation_warning = found->second.warning({out_.group, name, row.kind});
      }
      if (!foreign && name == versions.front()) continue;
      if (!foreign) added.stored_kind = {out_.group, versions.front(), row.kind};
      if (const auto found = labels.find(name); found != labels.end()) added.field_labels = found->second;
      // The strategy of `make`, warnings, columns and selectable fields apply only to the stored version.
      added.make = nullptr;
      added.facts.columns.clear();
      added.facts.table = nullptr;
      added.facts.selectable.clear();
      added.facts.warnings.clear();
      if (code == code_.kinds.end()) continue;
      if (const auto view = code->second.views.find(name); view != code->second.views.end()) added.make = view->second;
    }
  }

  void refuse_unused_code() const {
    for (const auto& [name, kind] : code_.kinds) {
      if (used_.count(name) == 0) throw std::invalid_argument("there is code for the kind " + name + ", which it does not have");
    }
  }

  const GroupCode& code_;
  const bool any_code_;
  GroupDocument out_;
  std::set<std::string> used_;                            // the kinds for which GroupCode has code
  std::map<std::size_t, documents::DocumentCell> cells_;  // cells of the kind that is being read, by the index of their column
};

}  // namespace

std::string problem_of_group(const Value& document) {
  try {
    (void)Reading({}, true).document(document);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

const KindRow& GroupDocument::kind(std::string_view name) const {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const KindRow& row) { return row.kind == name; });
  if (found == kinds.end()) throw std::out_of_range("no kind " + std::string(name));
  return *found;
}

Result<GroupDocument> read_group(std::string_view document, const GroupCode& code) {
  const auto tree = read_json(document);
  if (!tree) return Status(Reason::kInternalError, "the document of an API group is not JSON");
  try {
    return Reading(code).document(*tree);
  } catch (const std::invalid_argument& error) {
    return Status(
        Reason::kInternalError,
        "the document of the API group " + quoted(tree->is_object() ? get_string(tree->get_object(), "group") : "") + ": " + error.what());
  }
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
