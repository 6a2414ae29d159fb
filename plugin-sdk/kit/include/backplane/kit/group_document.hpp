// An API group as a document: its versions, and its kinds with their facts, columns and subresources. A kind that needs only its schema
// needs no code. Other behaviour is C++ code in a GroupCode, to which the document refers by name.
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
//                     print     the name of a printer: "entries", "labels", "selector", "number", "count" or "since" of the kit, or one of
//                               GroupCode. A column with neither `path` nor `print` shows the next cell of the printer of the column before
//                               it
//                     parts     [{"path" (or several), "before", "after", "absent", "lower", "as"}]: texts that are concatenated. A part is
//                     the
//                               first value at its paths that is not empty. `lower` converts it to lower case, `as` is a table that
//                               replaces it ("*": all other values). `before` and `after` are texts around it
//                     each      a path: `parts` are evaluated for each item at this path, and the results are separated by `join` (",")
//                     instead   [{"when": {path: value or values; true: any value, false: no value}, "show"}]: the first entry whose
//                               condition holds replaces the cell
//   rowsBy          the path of a number by which the rows of a table are sorted
//   warnings        [{"path", and one of "text", "warning" and "check"}], evaluated in this order for each value at the path (FieldPlaces:
//                   "spec.externalIPs[*]"). `text` causes the warning "path: text". `warning` is the whole warning. `check` names a
//                   function of the kit ("ip", "cidr", "wholeBytes") or of GroupCode. `when` and `unless` are conditions {path: value or
//                   values}, or lists of such conditions; true: any value, false: no value. At least one of `when` must hold, and none of
//                   `unless`. "only": "create": only on create. "only": "new": on update only if the old object has no value at the path
//   statusKeeps     members of metadata that /status does not change
//   scale           {} or {"specReplicas", "statusReplicas", "selector"}: paths of the subresource /scale
//   versions        the versions that serve the kind, the stored version first; absent: the first version of the document
//   sameForm        true: the versions have the same fields; false: the plugin adds conversions between them to the Scheme
//   lifecycle       by version: {"v1": {"introduced", "deprecated", "removed", "replacement"}}, Kubernetes releases
//   storedAs        {"group", "version", "kind"}: the kind is a view of this kind of another group
//   fieldLabels     for views, by version: {"v1": {"label of the view": "label of the stored version; empty if it is equal"}}
//
// Thread-safety: pure functions; call them on the thread that runs the plugin's provision().
// Errors:        a Status with the location of the error if a document cannot be read, has an unknown member, or names code that GroupCode
//                does not contain; also if GroupCode has code for a kind that is not in the document. Printers of GroupCode need not be
//                used.
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

// A function for a column. It formats the value at the column's path, or computes cells from the whole object.
struct Printer {
  Printer(PrintFound print) : found(print) {}
  Printer(PrintCells print) : cells(print) {}
  PrintFound found = nullptr;
  PrintCells cells = nullptr;
};

// The code of one kind, in addition to its entry in the document.
struct KindCode {
  MakeStrategy make = nullptr;
  std::map<std::string, MakeStrategy> views = {};  // by version: the strategies of views
  MakeStatusStrategy make_status = nullptr;
  PrintConditions row_conditions = nullptr;
  std::shared_ptr<const StoreHooks> hooks = {};
  std::chrono::seconds time_to_live{0};
  std::shared_ptr<const ObjectConverter> converter = {};
};

// The code to which a document refers: printers and warning checks by name, and the code of kinds by kind.
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
  std::vector<KindRow> kinds;  // the stored version of a kind precedes the other versions of the kind

  // Returns the row of a kind in its stored version. Throws std::out_of_range if there is none.
  const KindRow& kind(std::string_view name) const;
};

// Parses a document and combines it with its code. Errors: kInternalError with the location of the first error.
Result<GroupDocument> read_group(std::string_view document, const GroupCode& code = {});

}  // namespace BACKPLANE_API
}  // namespace backplane
