// One kind of an API group in one version, as data: names, facts, columns, and functions that make the strategies.
//
// A kind with several versions has one row for each version. The row of the stored version comes first. The `stored_kind` of the other rows
// is the stored version. The Scheme must contain the conversions between the versions before the row is installed, unless `same_form` is
// set.
//
// Thread-safety: use it on the thread that runs the plugin's provision().
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

// Make the strategy of a kind (MakeStrategy), and that of its /status (MakeStatusStrategy).
using MakeStrategy = std::function<std::shared_ptr<const Strategy>(KindFacts facts)>;
using MakeStatusStrategy = std::shared_ptr<const Strategy> (*)(std::shared_ptr<const Strategy> parent);

// One row. For members that are not set, the defaults of KindFacts apply.
struct KindRow {
  std::string resource = {};
  std::string kind = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  KindFacts facts = {};
  // Makes the strategy from `facts`; null: KindStrategy without additional behaviour.
  MakeStrategy make = nullptr;
  // Makes the strategy of /status; null: StatusStrategy. The kind has /status if facts.status is true or if this is set.
  MakeStatusStrategy make_status = nullptr;
  std::vector<std::string> status_keeps = {};    // members of metadata that /status does not change (StatusStrategy)
  std::optional<Host::ScalePaths> scale = {};    // nullopt: no /scale
  std::shared_ptr<const StoreHooks> hooks = {};  // null: no hooks
  std::chrono::seconds time_to_live{0};          // 0: objects are not removed
  std::string storage_prefix = {};               // empty: the value of `resource`
  std::string deprecation_warning = {};          // empty: no warning

  // ---- for versions other than the stored one
  std::string version = {};                               // empty: the first version of the group
  GroupVersionKind stored_kind = {};                      // if it is set, this version is a view (ResourceConfig::stored_kind)
  bool same_form = false;                                 // true: the view differs from the stored version only in the name of the version
  std::shared_ptr<const ObjectConverter> converter = {};  // null: functions of the Scheme
  // Field labels of the view, and their names in the stored version.
  std::vector<Scheme::FieldLabel> field_labels = {};

  // Returns the strategy of the row; null for a view without `make`.
  std::shared_ptr<const Strategy> strategy() const;
  std::shared_ptr<const Strategy> status_strategy(std::shared_ptr<const Strategy> parent) const;  // null: no /status
};

// For KindRow::make and make_status: make a strategy of class S from the facts and `arguments`, or from the strategy of the main resource.
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
