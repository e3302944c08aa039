// The folder of everything kept: where it is, and that its owner alone enters it.
#pragma once

#include <string>

#include "base/result.h"

namespace volcano_main {

// The place of the folder unless a flag says otherwise.
std::string default_data_folder();

// Every program that writes into a data folder begins with this. It makes the folder where it is missing, whatever the
// umask is, and takes the rights of others away: the folder holds the keys, and below it the setuid programs of images
// would make any user root. A folder that others may enter and that holds something else is refused: nobody wants it
// shut. The text says what was corrected, or that another user owns the folder; empty: nothing.
base::Result<std::string> open_data_folder(const std::string& path);

}  // namespace volcano_main
