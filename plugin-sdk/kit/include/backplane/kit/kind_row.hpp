// One kind of an API group in one version, as data: names, facts, columns, and the strategies made from them.
//
// A kind with several versions has a row for each. The row of the stored version comes first; the others name it as `stored_kind`. The
// conversions between them must be in the Scheme before the row is installed, unless `same_form` is set.
//
// Thread-safety: used while a plugin provisions, on one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/rest/conversion.hpp"
#include "backplane/rest/scheme.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "backplane/rest/strategy.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Makes the strategy of a kind, and that of its /status.
using MakeStrategy = std::function<std::shared_ptr<const Strategy>(KindFacts facts)>;
using MakeStatusStrategy = std::shared_ptr<const Strategy> (*)(std::shared_ptr<const Strategy> parent);

// One row. Members that are not set have the defaults of KindFacts, or are absent.
struct KindRow {
  std::string resource = {};
  std::string kind = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  KindFacts facts = {};
  // Makes the strategy from `facts`; null: KindStrategy, without further behaviour.
  MakeStrategy make = nullptr;
  // Makes the strategy of /status, if facts.status is true or this is set; null: StatusStrategy.
  MakeStatusStrategy make_status = nullptr;
  std::vector<std::string> status_keeps = {};    // of StatusStrategy: members of metadata that /status does not change
  std::optional<Host::ScalePaths> scale = {};    // nullopt: no /scale
  std::shared_ptr<const StoreHooks> hooks = {};  // null: no hooks
  std::chrono::seconds time_to_live{0};          // 0: objects are not removed
  std::string storage_prefix = {};               // empty: the plural
  std::string deprecation_warning = {};          // empty: no warning

  // ---- for versions other than the stored one
  std::string version = {};                               // empty: the first version of the group
  GroupVersionKind stored_kind = {};                      // set: this version is a view (ResourceConfig::stored_kind)
  bool same_form = false;                                 // the view differs from the stored version only by the version's name
  std::shared_ptr<const ObjectConverter> converter = {};  // null: functions of the Scheme
  // Field labels of the view, and their names in the stored version.
  std::vector<Scheme::FieldLabel> field_labels = {};

  // The strategy of the row; null for a view without `make`.
  std::shared_ptr<const Strategy> strategy() const;
  std::shared_ptr<const Strategy> status_strategy(std::shared_ptr<const Strategy> parent) const;  // null: no /status
};

// For KindRow::make and make_status: make a strategy of class S from the facts and `arguments`.
template <class S, class... Arguments>
MakeStrategy made(Arguments... arguments) {
  return [arguments...](KindFacts facts) { return std::make_shared<S>(std::move(facts), arguments...); };
}
template <class S>
std::shared_ptr<const Strategy> made_status(std::shared_ptr<const Strategy> parent) {
  return std::make_shared<S>(std::move(parent));
}

}  // namespace BACKPLANE_API
}  // namespace backplane
