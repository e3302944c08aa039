// Memory that only the start of a program needed.
#pragma once

namespace volcano_main {

// Takes the pages of the program's and its libraries' code out of this process: those that are used again come back
// from the system's cache of files, and most of what a start runs does not.
void give_back_start_pages();

}  // namespace volcano_main
