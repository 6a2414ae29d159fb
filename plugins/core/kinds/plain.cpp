// Kinds that are no more than their facts, their columns and their schema.
#include "backplane/kit/table.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {

using namespace kit;

KindRow config_map_row() {
  return {.resource = "configmaps",
          .kind = "ConfigMap",
          .short_names = {"cm"},
          .facts = {.rechecks_metadata = true,
                    .columns = {name_column(), computed_column("Data", "Number of entries.", print_entries), age_column()}}};
}

}  // namespace backplane::core
