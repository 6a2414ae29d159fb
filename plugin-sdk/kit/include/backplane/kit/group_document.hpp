// An API group as a document: its versions, and its kinds with their facts, columns and subresources, as data. A kind without behaviour
// beyond its schema needs no code; other behaviour is in a GroupCode, under the names that the document uses.
//
//   {"group": "shop.example.com", "priority": 1000,             priority: groupPriorityMinimum of its APIServices
//    "versions": [{"name": "v1", "priority": 15}],              in order of preference; priority: versionPriority
//    "kinds": [{"resource": "shelves", "kind": "Shelf", "status": true,
//               "columns": ["name", {"name": "Boxes", "type": "integer", "path": ".spec.boxes", "description": "…"}, "age"]}]}
//
// Members of a kind (an absent member has the default of KindFacts or KindRow):
//   resource, kind, shortNames, categories, storagePrefix, deprecationWarning
//   namespaced, nameRule (subdomain | label | label1035 | pathSegment), createOnUpdate, unconditionalUpdate, generation, status,
//   statusOnCreate, initialStatus (an object), orphansDependents, returnsDeleted, hasTables, hasDependents, deletesCollections,
//   rechecksMetadataChange, rechecksMetadata, rechecksRules, anyFinalizerNames, metadataLast
//   selectable      fields of field selectors: "spec.nodeName", or {"label", "path", "default"}
//   columns         "name", "age", or an object with the members "name", "description", "type", "format", "priority" and
//                     path      a path, or several, of which the first that has a value is shown
//                     join      a text: the values at all paths are shown, separated by this text
//                     absent    shown if there is no value
//                     empty     shown if there is no value or an empty text; instead of `absent`
//                     print     a printer: of the kit ("entries", "labels", "selector", "number", "count", "since") or of GroupCode. A
//                               column with neither `path` nor `print` shows a further cell of the printer before it
//                     parts     [{"path" (or several), "before", "after", "absent", "lower", "as"}]: pieces that are concatenated. Each is
//                               the first value at its paths that is not empty, in lower case or replaced by the table `as` ("*": all other
//                               values), between the two texts
//                     each      a path: `parts` are evaluated for each item there, and separated by `join` (",")
//                     instead   [{"when": {path: value or values; true: any, false: none}, "show"}]: the first entry whose condition holds
//                               replaces the cell
//   rowsBy          the path of a number by which the rows of a table are sorted
//   warnings        [{"path", and one of "text", "warning" and "check"}], evaluated in this order for each value at the path (FieldPlaces:
//                   "spec.externalIPs[*]"). `text` gives the warning "path: text", `warning` is the whole warning, `check` names a function
//                   of the kit ("ip", "cidr", "wholeBytes") or of GroupCode. `when` and `unless` are {path: value or values}, or a list of
//                   such, of which at least one must hold (for `unless`: none); true: any value, false: no value. "only": "create": only
//                   on create; "only": "new": on update only if the old object has no such value
//   statusKeeps     members of metadata that /status does not change
//   scale           {} or {"specReplicas", "statusReplicas", "selector"}: paths of the subresource /scale
//   versions        the versions that serve the kind, the stored one first; absent: the first version of the document
//   sameForm        true: the versions have the same fields; otherwise the Scheme has conversions between them
//   lifecycle       by version: {"v1": {"introduced", "deprecated", "removed", "replacement"}}, Kubernetes releases
//   storedAs        {"group", "version", "kind"}: the kind is a view of this kind of another group
//   fieldLabels     of views, by version: {"v1": {"label of the view": "label of the stored version, or empty if it is the same"}}
//
// Thread-safety: pure functions; used while a plugin provisions.
// Errors:        a Status with the location if a document cannot be read, has an unknown member, or names code that is not in
//                GroupCode, and if GroupCode has code for a kind that the document does not have. Printers of GroupCode may be unused.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/kind_row.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// A function for a column: formats the value at the column's path, or computes cells from the whole object.
struct Printer {
  Printer(PrintFound print) : found(print) {}
  Printer(PrintCells print) : cells(print) {}
  PrintFound found = nullptr;
  PrintCells cells = nullptr;
};

// The code of one kind, in addition to its row.
struct KindCode {
  MakeStrategy make = nullptr;
  std::map<std::string, MakeStrategy> views = {};  // by version: strategies of the views
  MakeStatusStrategy make_status = nullptr;
  PrintConditions row_conditions = nullptr;
  std::shared_ptr<const StoreHooks> hooks = {};
  std::chrono::seconds time_to_live{0};
  std::shared_ptr<const ObjectConverter> converter = {};
};

// The code that a document refers to: printers and warning checks by name, and code by kind.
struct GroupCode {
  std::map<std::string, Printer, std::less<>> printers = {};
  std::map<std::string, WarnOf, std::less<>> warnings = {};
  std::map<std::string, KindCode, std::less<>> kinds = {};
};

// A parsed document.
struct GroupDocument {
  struct Version {
    std::string name;
    int priority = 15;
  };
  std::string group;
  int priority = 1000;
  std::vector<Version> versions;
  std::vector<KindRow> kinds;  // the stored version of a kind precedes its other versions

  // The row of a kind in its stored version. Throws std::out_of_range if there is none.
  const KindRow& kind(std::string_view name) const;
};

// Parses a document and connects it with its code. Errors: kInternalError with the location of the first error.
Result<GroupDocument> read_group(std::string_view document, const GroupCode& code = {});

}  // namespace BACKPLANE_API
}  // namespace backplane
