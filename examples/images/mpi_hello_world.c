/* A small MPI program: every rank says who and where it is, and rank 0 sums the ranks by a reduction. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, length, sum = 0;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  printf("Hello world from processor %s, rank %d out of %d processors\n", host, rank, size);
  fflush(stdout);
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum of all ranks: %d\n", sum);
  MPI_Finalize();
  return 0;
}
