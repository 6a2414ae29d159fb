// The main header for plugins that serve API groups.
//
//   kit::install_group     a group from its document, its schemas and, if a kind does more than its schema, C++ code
//   KindFacts, Strategy    a kind: facts as data, and further behaviour; kit::KindStrategy has that of most kinds
//   FieldErrors            the errors of an object, by field
//   RestStorage, …         the roles of a storage, for resources that Host::make_storage cannot make
//
// Names only; the contracts are in the headers below.
#pragma once

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/group_document.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/schema.hpp"
