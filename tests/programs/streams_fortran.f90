! streams_fortran MIB SECONDS: a triad over three arrays of MIB each by all OpenMP threads. Prints bytes a second as streams.c
! does.
program streams
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  real(real64), allocatable :: a(:), b(:), c(:)
  character(len=32) :: argument
  integer(int64) :: begin, now, rate, n, i, mebibytes
  real(real64) :: seconds, elapsed, bytes

  call get_command_argument(1, argument)
  read (argument, *) mebibytes
  call get_command_argument(2, argument)
  read (argument, *) seconds
  n = mebibytes * 131072
  allocate (a(n), b(n), c(n))
  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = 0
    b(i) = 1
    c(i) = 2
  end do
  bytes = 0
  elapsed = 0
  call system_clock(begin, rate)
  do while (elapsed < seconds)
    !$omp parallel do schedule(static)
    do i = 1, n
      a(i) = b(i) + 0.5_real64 * c(i)
    end do
    bytes = bytes + 32.0_real64 * real(n, real64)
    call system_clock(now)
    elapsed = real(now - begin, real64) / real(rate, real64)
  end do
  print '(es12.5, 1x, es12.5)', bytes / elapsed, bytes
  if (a(n / 2) < 0) stop 1
end program streams
