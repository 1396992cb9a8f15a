! The same call from Fortran: each thread of an OpenMP region pins itself SPACING relative CPUs from the next one, and takes
! the memory that it touches first from there.
program spaced
   use, intrinsic :: iso_c_binding, only: c_int
   use, intrinsic :: iso_fortran_env, only: int64
   use omp_lib
   use plumb
   implicit none
   integer, parameter :: words = 131072 ! of 8 bytes: one MiB
   double precision, allocatable :: table(:)
   double precision :: total
   integer :: mebibytes, spacing, turn, failed
   integer(int64) :: i
   character(len=20) :: word

   mebibytes = 64
   spacing = 1
   if (command_argument_count() > 0) then
      call get_command_argument(1, word)
      read (word, *) mebibytes
   end if
   if (command_argument_count() > 1) then
      call get_command_argument(2, word)
      read (word, *) spacing
   end if
   total = 0
   failed = 0
   !$omp parallel private(table, i, turn) reduction(+:total, failed)
   if (plumb_pin(int(spacing*omp_get_thread_num(), c_int)) /= 0) failed = failed + 1
   allocate (table(int(mebibytes, int64)*words))
   do i = 1, size(table, kind=int64)
      table(i) = i
   end do
   do turn = 1, 20
      total = total + sum(table)
   end do
   deallocate (table)
   !$omp end parallel
   print '(a,i0,a,es12.5)', 'threads without a place: ', failed, ', sum ', total
end program
