// An API group as a document: its versions, and its kinds with their facts, columns and subresources, as data.  A kind that does nothing
// beyond its schema needs no code at all; what only code can do stands in a GroupCode, under the names that the document uses.
//
//   {"group": "shop.example.com", "priority": 1000,             priority: groupPriorityMinimum of its APIServices
//    "versions": [{"name": "v1", "priority": 15}],              in order of preference; priority: versionPriority
//    "kinds": [{"resource": "shelves", "kind": "Shelf", "status": true,
//               "columns": ["name", {"name": "Boxes", "type": "integer", "path": ".spec.boxes", "description": "…"}, "age"]}]}
//
// Members of a kind (those that are not there are as KindFacts and KindRow have them):
//   resource, kind, shortNames, categories, storagePrefix, deprecationWarning
//   namespaced, nameRule (subdomain | label | label1035 | pathSegment), createOnUpdate, unconditionalUpdate, generation, status,
//   statusOnCreate, initialStatus (an object), orphansDependents, returnsDeleted, hasTables, hasDependents, deletesCollections,
//   rechecksMetadataChange, rechecksMetadata, rechecksRules selectable      what field selectors may name: "spec.nodeName", or {"label",
//   "path", "default"} columns         "name", "age", or {"name", "description", "type", "format", "priority", "path", "join", "absent",
//   "empty", "print",
//                   "parts", "each", "instead"}.
//                   `path` is a path, or several of which the first is shown at which something stands; with `join`, all that stands at
//                   them, this text between.  `absent` is shown where nothing stands, `empty` where an empty text does, too.  `print`
//                   names a printer, of the kit ("entries", "labels", "selector", "number", "count", "since") or of the code; a column with
//                   neither path nor print shows what the printer before it has left.
//                   `parts` are pieces of one text, [{"path" (or several), "before", "after", "absent", "lower", "as"}]: the first thing
//                   at the paths that is something, in lower case or as the table `as` has it ("*": all others), between two texts; with
//                   `each`, a path, that text for all that stands there, `join` between them (",").  `instead` shows something else
//                   under a condition, [{"when": {path: value or values; true: any, false: none}, "show"}], the first that holds
//   rowsBy          the path of a number that the rows of a table are sorted by
//   warnings        [{"path", and "text" behind it, or "said" in its place, or "check"}]: asked in order of what stands at the path
//                   (FieldPlaces: "spec.externalIPs[*]").  `check` names a function, of the kit ("ip", "cidr", "wholeBytes") or of the
//                   code.  `when` and `unless` are {path: value or values} or a list of such, of which one holds; true: any value, false:
//                   none.  "only": "create" leaves out updates, "only": "new" those whose old object has something there, too
//   statusKeeps     members of metadata that /status does not change
//   scale           {} or {"specReplicas", "statusReplicas", "selector"}: paths of the subresource /scale
//   versions        the versions that serve it, the stored one first; not there: the first version of the document
//   sameForm        the versions differ by their names alone; otherwise the Scheme has conversions between them
//   storedAs        {"group", "version", "kind"}: it is a view of another group's kind
//   fieldLabels     of views, by version: {"v1": {"its label": "the stored version's, or nothing when it is the same"}}
//
// Thread-safety: pure functions; used while a plugin provisions.
// Errors:        a document that cannot be read, says something unknown, or names code that is not there gives a Status with the place;
//                so does code for a kind that the document does not have (printers of a library may stand unused).
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
