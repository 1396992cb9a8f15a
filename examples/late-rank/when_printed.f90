! The probe is asked only in the cycles whose line is printed. Usage: mpirun -n RANKS probe-when-printed-f [cycles]
program when_printed
  use gas
  use mpi_f08
  implicit none
  real(real_kind) :: temperature(cell_count), source(cell_count), allowed, step, seen, begin
  integer :: rank, ranks, cycle, cycles
  logical :: prints
  character(16) :: argument

  cycles = 4000
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) cycles
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call make(temperature, source, rank)
  step = 0.001_real_kind
  call MPI_Barrier(MPI_COMM_WORLD)
  begin = MPI_Wtime()
  do cycle = 1, cycles
    call advance(temperature, source, step, allowed)
    prints = rank == ranks - 1 .and. mod(cycle, line_every) == 0
    if (prints) seen = seen_by_probe(temperature)
    call MPI_Allreduce(allowed, step, 1, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD)
    if (prints) &
      print '(a, i0, a, es13.6, a, es13.6)', 'cycle ', cycle, ': step', step, ', the probe sees', seen
  end do
  if (rank == ranks - 1) print '(f0.3, a)', MPI_Wtime() - begin, ' seconds'
  call MPI_Finalize()
end program
