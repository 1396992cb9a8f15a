! The halo is exchanged where it is needed: once for each field that is differentiated along y, after it has changed, and
! as one message to each neighbour. Usage: mpirun -n RANKS wave-face-at-once-f [steps]; RANKS must divide 48.
program face_at_once
  use wave
  implicit none
  real(real_kind), allocatable :: p(:, :, :), d(:, :, :, :)
  real(real_kind) :: begin
  integer :: step, steps, direction, error

  call start()
  steps = steps_asked_for()
  allocate (p(n, 0:width + 1, n), d(n, 0:width + 1, n, 3))
  call fill(p)
  d = 0
  call MPI_Barrier(MPI_COMM_WORLD, error)
  begin = MPI_Wtime()
  do step = 1, steps
    call exchange_faces(p)
    do direction = along_x, along_z
      call add_differences(p, direction, 0.2_real_kind, d(:, :, :, direction))
    end do
    call exchange_faces(d(:, :, :, along_y))
    do direction = along_x, along_z
      call add_differences(d(:, :, :, direction), direction, 0.2_real_kind, p)
    end do
  end do
  call print_energy(p, d, steps, MPI_Wtime() - begin)
  call MPI_Finalize(error)

contains

  subroutine exchange_faces(field)
    real(real_kind), intent(inout) :: field(n, 0:width + 1, n)
    real(real_kind), asynchronous, save :: first(n, n), last(n, n), from_below(n, n), from_above(n, n)
    integer :: requests(4)
    call MPI_Irecv(from_below, n * n, MPI_DOUBLE_PRECISION, below, 0, MPI_COMM_WORLD, requests(1), error)
    call MPI_Irecv(from_above, n * n, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, requests(2), error)
    last = field(:, width, :)
    call MPI_Isend(last, n * n, MPI_DOUBLE_PRECISION, above, 0, MPI_COMM_WORLD, requests(3), error)
    first = field(:, 1, :)
    call MPI_Isend(first, n * n, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(4), error)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
    field(:, 0, :) = from_below
    field(:, width + 1, :) = from_above
  end subroutine
end program
